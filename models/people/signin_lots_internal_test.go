package people

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"countersign/models"
)

// Each address has the same chance, however often it comes.
func TestLotsDoNotFavourWhoComesOften(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var l lots
	l.init(func(of int) bool { return random.IntN(of) == 0 })
	now, won := models.NoDeadline.AddDate(-1, 0, 0), make([]int, 7)
	const rounds = 7000
	for range rounds {
		for i := range won { // the last comes once, the others all the time
			for range 1 + 10*min(1, len(won)-1-i) {
				if l.draw(attempt{account: "a", address: fmt.Sprint(i)}, now) == 0 {
					won[i]++
				}
			}
		}
		now = now.Add(slowedTo)
	}
	for i, n := range won {
		if n < rounds/9 || n > rounds/5 {
			t.Errorf("address %d won %d of %d times: %v", i, n, rounds, won)
		}
	}
	if got := l.draw(attempt{account: "b", address: "x"}, now); got != 0 {
		t.Errorf("who is alone waits %v", got)
	}
	if got := l.draw(attempt{account: "b", address: "x"}, now.Add(time.Second)); got != slowedTo-time.Second {
		t.Errorf("and then %v", got)
	}
}
