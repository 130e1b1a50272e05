// For each name of MPI that the libraries export (front/names.hpp, which CMake makes):
//
//   NAME         what programs call: a jump to where its slot says, whatever the arguments and the handles among them
//   first_NAME   where the slot says at first: has swapmeet_front_resolve(number) find the function, and goes on to it
//   binder_NAME  what the loader calls to bind NAME once front.cpp has made it an indirect function
//
// No frame stays on the stack: errors, exceptions and signals see the caller and the function.

#if defined(__x86_64__)

.macro SWAPMEET_FUNCTION name
  .globl \name
  .type \name, @function
  .p2align 4
\name:
entry_\name:
  .cfi_startproc
  endbr64
  jmp *swapmeet_front_slots + 8 * number(%rip)
  .cfi_endproc
  .size \name, . - \name
first_\name:
  .cfi_startproc
  endbr64
  pushq $number
  .cfi_adjust_cfa_offset 8
  jmp resolve
  .cfi_endproc
binder_\name:
  .cfi_startproc
  endbr64
  movl $number, %edi
  jmp swapmeet_front_bind
  .cfi_endproc
  .set number, number + 1
.endm

  .text
  .p2align 4
  .type resolve, @function
resolve:
  .cfi_startproc
  .cfi_def_cfa_offset 16              // the number lies on top of the return address
.irp register, rax, rdi, rsi, rdx, rcx, r8, r9, r10
  pushq %\register
  .cfi_adjust_cfa_offset 8
.endr
  subq $128, %rsp
  .cfi_adjust_cfa_offset 128
.irp number_of, 0, 1, 2, 3, 4, 5, 6, 7
  movups %xmm\number_of, 16 * \number_of(%rsp)
.endr
  movl 192(%rsp), %edi
  call swapmeet_front_resolve
  movq %rax, %r11
.irp number_of, 0, 1, 2, 3, 4, 5, 6, 7
  movups 16 * \number_of(%rsp), %xmm\number_of
.endr
  addq $128, %rsp
  .cfi_adjust_cfa_offset -128
.irp register, r10, r9, r8, rcx, rdx, rsi, rdi, rax
  popq %\register
  .cfi_adjust_cfa_offset -8
.endr
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  jmp *%r11
  .cfi_endproc
  .size resolve, . - resolve

#elif defined(__aarch64__)

.macro SWAPMEET_FUNCTION name
  .globl \name
  .type \name, %function
  .p2align 4
\name:
entry_\name:
  .cfi_startproc
  hint #34                            // bti c
  adrp x16, swapmeet_front_slots + 8 * number
  ldr x16, [x16, :lo12:swapmeet_front_slots + 8 * number]
  br x16
  .cfi_endproc
  .size \name, . - \name
first_\name:
  .cfi_startproc
  hint #34
  mov w17, #number
  b resolve
  .cfi_endproc
binder_\name:
  .cfi_startproc
  hint #34
  mov w0, #number
  b swapmeet_front_bind
  .cfi_endproc
  .set number, number + 1
.endm

  .text
  .p2align 4
  .type resolve, %function
resolve:
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset x29, -224
  .cfi_offset x30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w17
  bl swapmeet_front_resolve
  mov x16, x0
  ldp q6, q7, [sp, #192]
  ldp q4, q5, [sp, #160]
  ldp q2, q3, [sp, #128]
  ldp q0, q1, [sp, #96]
  ldr x8, [sp, #80]
  ldp x6, x7, [sp, #64]
  ldp x4, x5, [sp, #48]
  ldp x2, x3, [sp, #32]
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #224
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
  .size resolve, . - resolve

#else
#error "a trampoline for this processor has to be written"
#endif

#define SWAPMEET_NAME(name) SWAPMEET_FUNCTION name
  .set number, 0
#include "front/names.hpp"
#undef SWAPMEET_NAME

// What front.cpp sees of these, by number.
.macro SWAPMEET_TABLE table
  .hidden \table
  .globl \table
  .p2align 3
\table:
.endm

  .section .data.rel.ro, "aw"
SWAPMEET_TABLE swapmeet_front_entries
#define SWAPMEET_NAME(name) .quad entry_##name
#include "front/names.hpp"
#undef SWAPMEET_NAME
SWAPMEET_TABLE swapmeet_front_binders
#define SWAPMEET_NAME(name) .quad binder_##name
#include "front/names.hpp"
#undef SWAPMEET_NAME

  .data
SWAPMEET_TABLE swapmeet_front_slots
#define SWAPMEET_NAME(name) .quad first_##name
#include "front/names.hpp"
#undef SWAPMEET_NAME

  .section .note.GNU-stack, "", %progbits
