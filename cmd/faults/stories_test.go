package faults_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"countersign/models"
)

// The tools that are asked for, each under a rule of policy.
const (
	toolPlain = "plain" // an approval is the outcome at once
	toolUndo  = "undo"  // it is held for a second
	toolSpend = "spend"
	toolUse   = "use" // and a number: a grant is for one tool
)

// policy is the installation's.
const policy = `{"undo_seconds":{"medium":1},"default_timeout_minutes":600,"rules":[
 {"name":"plain","tools":["plain","spend","/^use.*$/"],"effect":"require","risk":"low"},
 {"name":"undo","tools":["undo"],"effect":"require","risk":"medium"}]}`

const (
	clients = 3 // at one object at once
	steps   = 6 // of each
	keys    = 8
)

// story has some clients do this and that to a new object, all at once.
func (b *book) story(rng *rand.Rand) {
	h, next := b.object(rng)
	var all sync.WaitGroup
	for client := range clients {
		mine := rand.New(rand.NewPCG(rng.Uint64(), 0))
		all.Go(func() {
			for step := range steps {
				in := next(mine, client, step)
				in.node = mine.IntN(2)
				if out := b.op(h, client, in); out.unknown || out.unsent {
					b.rest(time.Second)
				}
				b.rest(400 * time.Millisecond)
			}
		})
	}
	all.Wait()
}

// maker says which operation a client does next.
type maker func(rng *rand.Rand, client, step int) input

func (b *book) object(rng *rand.Rand) (*history, maker) {
	id := models.NewID[string]()
	switch rng.IntN(5) {
	case 0:
		return b.add(&history{id: id, tool: toolPlain, begin: request{}}), requestMaker(1, ask, get, get, get, get, vote)
	case 1:
		return b.add(&history{id: id, tool: toolUndo, begin: request{}}), requestMaker(0, ask, get, vote, vote, vote, vote, undo, undo, undo, undo, cancel)
	case 2:
		h := b.add(&history{id: id, tool: toolSpend, begin: purse{total: 10}, keys: newKeys()})
		b.prepare(h)
		return h, spends
	case 3:
		h := b.add(&history{id: id, tool: toolUse + id, begin: leave{}, keys: newKeys()})
		b.prepare(h)
		return h, uses
	}
	return b.add(&history{id: id, tool: toolPlain, begin: request{}}), requestMaker(0, ask, ask, get, vote, vote, vote, cancel)
}

func newKeys() (all []string) {
	for range keys {
		all = append(all, models.NewID[string]())
	}
	return all
}

// requestMaker asks for a request, and then does some of the acts to it.
func requestMaker(timeout int64, acts ...act) maker {
	return func(rng *rand.Rand, client, step int) input {
		in := input{act: acts[rng.IntN(len(acts))], timeout: timeout, who: rng.IntN(2)}
		switch {
		case client == 0 && step == 0, in.act == ask:
			in.act, in.text = ask, `{"n":1}`
			if rng.IntN(8) == 0 {
				in.text = `{"n":2}` // another request with the same key
			}
		case in.act == vote:
			in.yes, in.reason = rng.IntN(2) == 0, fmt.Sprintf("vote %d.%d", client, step)
			if in.yes && rng.IntN(3) == 0 {
				in.text = fmt.Sprintf(`{"edit":"%d.%d"}`, client, step)
			}
		}
		return in
	}
}

func spends(rng *rand.Rand, _, _ int) input {
	switch rng.IntN(8) {
	case 0:
		return input{act: budget, set: true, amount: rng.Int64N(30)}
	case 1, 2:
		return input{act: budget, amount: rng.Int64N(11) - 5}
	case 3:
		return input{act: get}
	}
	return input{act: spend, n: rng.IntN(keys), amount: 1 + rng.Int64N(5)}
}

func uses(rng *rand.Rand, client, step int) input {
	switch {
	case client == 0 && step == 0:
		return input{act: grant}
	case client == 1 && step == 2 && rng.IntN(2) == 0:
		return input{act: revoke}
	}
	return input{act: use, n: rng.IntN(keys)}
}

// last reads each object at the end: what was acknowledged must be there (I2).
func (b *book) last() {
	for _, h := range b.histories {
		for node := range 2 {
			out := b.surely(h, clients+node, input{act: get, node: node})
			if node == 0 {
				b.ends[cmp.Or(string(out.status), string(out.code), h.tool[:min(len(h.tool), 5)])]++
			}
		}
	}
}
