package people

import (
	"math/rand/v2"
	"sync"
	"time"
)

// mostLots bounds the memory of draws; above it all is forgotten.
const mostLots = 10_000

// lots say who of many may try at an account that is slowed down. Each address draws once in slowedTo, however often it
// comes, and one of as many as came in that time wins: so quick callers keep no one out.
type lots struct {
	mu   sync.Mutex
	wins func(of int) bool
	all  map[string]map[string]lot // by account and address
	size int
}

// lot is one address's: when it last came, and when it last drew.
type lot struct{ came, drew time.Time }

func (l *lots) init(wins func(of int) bool) {
	if l.wins = wins; wins == nil {
		l.wins = func(of int) bool { return rand.IntN(of) == 0 } //nolint:gosec // a lot decides who waits, no secret
	}
	l.all = make(map[string]map[string]lot)
}

// come notes that an address tries at an account.
func (l *lots) come(a attempt, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entered(a, now)
}

// entered are the draws of an account's addresses, with this one.
func (l *lots) entered(a attempt, now time.Time) map[string]lot {
	if l.size >= mostLots {
		clear(l.all)
		l.size = 0
	}
	of := l.all[a.account]
	if of == nil {
		of = make(map[string]lot)
		l.all[a.account] = of
	}
	for address, one := range of {
		if one.came.Add(slowedTo).Before(now) {
			delete(of, address)
			l.size--
		}
	}
	mine, known := of[a.address]
	if !known {
		l.size++
	}
	mine.came = now
	of[a.address] = mine
	return of
}

// draw has an address draw: zero if it may try now, else when it may draw again.
func (l *lots) draw(a attempt, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.entered(a, now)
	mine := of[a.address]
	if wait := mine.drew.Add(slowedTo).Sub(now); !mine.drew.IsZero() && wait > 0 {
		return wait
	}
	mine.drew = now
	of[a.address] = mine
	if l.wins(len(of)) {
		return 0
	}
	return slowedTo
}
