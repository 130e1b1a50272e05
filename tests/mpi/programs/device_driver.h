/* What a program may ask of the stand-in for a driver: memory, and what is in it. */
#include <stddef.h>

/* Until this is called, nothing is initialised. */
void device_start(void);

/* Memory of the device; `managed`: that the CPU may touch too. */
char* device_allocate(size_t bytes, int managed);
void device_free_all(void);

/* Either address may be of the device. */
void device_copy(void* to, const void* from, size_t bytes);

/* Made by others so far. */
int device_copies(void);
