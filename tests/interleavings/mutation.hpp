/// Which of the mistakes is made that mutations.py has put into the code; 0: none.
#pragma once

extern int mutation;
