/* A library that somebody has put where a program may look for one: reports that it was loaded. */
#include <unistd.h>

__attribute__((constructor)) static void report(void) { (void)!write(1, "planted: loaded\n", 16); }
