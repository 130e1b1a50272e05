// The search runs in a worker, which browsers refuse to pages from file://. There its script runs in a hidden frame instead.
// (The plugin `offline` of Material for MkDocs expects a file of this name; the one that it names by itself is on the network.)
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];  // messages until the script is there; then null
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      frame.srcdoc = "<!doctype html>";
      frame.addEventListener("load", () => this.start(frame.contentWindow, String(address)), { once: true });
      document.body.append(frame);
    }

    start(inside, address) {
      this.inside = inside;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
      const script = inside.document.createElement("script");
      script.src = address;
      script.addEventListener("load", () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      });
      inside.document.head.append(script);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data: structuredClone(data) }));
    }
  };
}
