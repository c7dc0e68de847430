package db

import (
	"testing"
	"testing/synctest"
	"time"
)

// lead makes the first caller of q and returns it with what is closed when it has gathered its batch.
func lead(t *testing.T, q *queue) (leader *op, gathered <-chan struct{}) {
	t.Helper()
	o := &op{}
	if leads, err := q.join(o); err != nil || !leads {
		t.Fatalf("the first caller leads: %t, %v", leads, err)
	}
	return o, gathering(q)
}

func gathering(q *queue) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		q.gather(time.Now)
		close(done)
	}()
	return done
}

func follow(t *testing.T, q *queue) {
	t.Helper()
	if leads, err := q.join(&op{}); err != nil || leads {
		t.Fatalf("a caller behind a leader leads: %t, %v", leads, err)
	}
}

// is reports whether the leader has gathered, when all that can run has run.
func is(gathered <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-gathered:
		return true
	default:
		return false
	}
}

func TestALeaderWaitsForThoseWhomTheLastCommitTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, start := &queue{}, time.Now()
		q.passOn(3, time.Now(), time.Now())
		leader, gathered := lead(t, q)
		for came := 1; came < 3; came++ {
			if is(gathered) {
				t.Fatalf("gathered with %d of 3", came)
			}
			follow(t, q)
		}
		if !is(gathered) {
			t.Fatal("still waits although all 3 have come")
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %s although all 3 have come", waited)
		}
		if n := len(q.take(leader)); n != 3 {
			t.Errorf("the batch has %d callers, want 3", n)
		}
	})
}

// Two halves that take turns would otherwise stay halves for ever.
func TestThoseWhoWaitedWhenACommitEndedAreExpectedToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		_, gathered := lead(t, q)
		if !is(gathered) {
			t.Fatal("the first caller of all waits")
		}
		follow(t, q)
		follow(t, q)
		q.passOn(2, time.Now(), time.Now()) // one of the two leads now, the other waits, and two are told
		gathered = gathering(q)
		follow(t, q)
		if is(gathered) {
			t.Fatal("gathered with 3 of 4")
		}
		follow(t, q)
		if !is(gathered) {
			t.Fatal("still waits although all 4 have come")
		}
	})
}

func TestALeaderNeverWaitsForNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		told int
		late time.Duration
	}{
		"a lone caller":                     {told: 1},
		"who comes long after the last one": {told: 8, late: comeWithin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := &queue{}
				q.passOn(c.told, time.Now(), time.Now())
				<-time.After(c.late)
				if _, gathered := lead(t, q); !is(gathered) || q.missed != 0 {
					t.Error("waits")
				}
			})
		})
	}
}

func TestNoMoreAreWaitedForThanFitIntoABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		q.passOn(maxBatch+50, time.Now(), time.Now())
		leader, gathered := lead(t, q)
		for range maxBatch - 1 {
			follow(t, q)
		}
		if !is(gathered) {
			t.Error("a full batch waits")
		}
		if n := len(q.take(leader)); n != maxBatch {
			t.Errorf("the batch has %d callers, want %d", n, maxBatch)
		}
	})
}

func TestWhereThoseExpectedDoNotComeEverFewerBatchesWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		// once is a leader who comes when the last commit has told two, and whether the other comes too; it
		// returns how long the leader waited.
		once := func(comes bool) time.Duration {
			q.passOn(2, time.Now(), time.Now())
			leader, gathered := lead(t, q)
			start := time.Now()
			if !is(gathered) && comes {
				follow(t, q)
			}
			<-gathered
			q.take(leader)
			q.passOn(1, time.Now(), time.Now()) // nobody is left
			return time.Since(start)
		}
		waits := func(comes bool) (batches int) {
			for once(comes) == 0 {
				batches++
			}
			return batches
		}
		if waited := once(false); waited != comeWithin {
			t.Errorf("waits %s for who does not come, want %s", waited, comeWithin)
		}
		for _, want := range []int{2, 4, 8} {
			if n := waits(false); n != want {
				t.Errorf("%d batches do not wait, want %d", n, want)
			}
		}
		for range 30 {
			waits(false)
		}
		if n := waits(false); n != 1<<maxMissed {
			t.Errorf("after many in vain %d batches do not wait, want %d", n, 1<<maxMissed)
		}
		for range 1 << maxMissed {
			once(true) // not waited for
		}
		for range maxMissed {
			once(true)
		}
		once(false)
		if n := waits(false); n != 2 {
			t.Errorf("one in vain after many that were not: %d batches do not wait, want 2", n)
		}
	})
}

// Where many call at times of their own, somebody comes within the time by chance, and
// waiting for that would make everybody slower.
func TestThoseWhoComeLaterThanACommitTakesAreNotWaitedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const took = comeWithin / 4
		for _, c := range []struct {
			after  time.Duration
			missed int
		}{{took, 0}, {took + 1, 1}} {
			q := &queue{}
			q.passOn(2, time.Now().Add(-took), time.Now())
			_, gathered := lead(t, q)
			<-time.After(c.after)
			follow(t, q)
			<-gathered
			if q.missed != c.missed || q.pause != 2*c.missed {
				t.Errorf("after %s: missed %d, pause %d, want %d, %d", c.after, q.missed, q.pause, c.missed, 2*c.missed)
			}
		}
	})
}
