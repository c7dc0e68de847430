package timerslack

/*
#include <sys/prctl.h>

// Go's runtime has a thread that looks after the others every 20 us while anything runs,
// and one that looks for work sleeps 3 us at a time. The system's 50 us of slack make 70
// of it, and each waking takes the processor from the thread that answers: a tenth of
// its time where one requester waits for one answer. 500 us are lost in no timer of
// ours, which count in milliseconds (man 2 prctl, PR_SET_TIMERSLACK).
//
// A thread inherits it from the one that starts it, and may set only its own. So it is
// set before there is a second one: a constructor runs before Go's runtime starts.
__attribute__((constructor)) static void set_timer_slack(void)
{
	prctl(PR_SET_TIMERSLACK, 500000UL, 0UL, 0UL, 0UL); // a refusal costs speed alone
}
*/
import "C"
