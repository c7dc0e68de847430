package llm

import (
	"context"
	"strings"
)

// Scripted is the name of the scripted model, for people to tell a demonstration
// from a model by.
const Scripted = "scripted-demo"

// longestScripted is more than the scripted model ever says at once, in bytes:
// its own words, and those of people that it quotes.
const longestScripted = 8 << 10

type scripted struct{}

// NewScripted is a model without a model: it plays a tour of proposals, decisions
// and budgets, needs no network, and says the same in the same situation. All
// that it knows it reads from the request, so that it goes on wherever a process
// ended.
//
// It answers anything with a proposal at first; the words propose, budget (with a
// number, if one likes) and help steer it. Half a token is counted for each byte.
func NewScripted() Model { return scripted{} }

func (scripted) Name() string { return Scripted }

func (scripted) WorstCase(r Request) int64 { return promptOf(r) + longestScripted/2 }

func (scripted) Complete(ctx context.Context, r Request, onText func(text string, reset bool)) (*Turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := (&script{scene: sceneOf(r)}).play()
	if onText != nil {
		for _, piece := range piecesOf(t.Content) {
			onText(piece, false)
		}
	}
	spoken := len(t.Content)
	for _, call := range t.Calls {
		spoken += len(call.Name) + len(call.Arguments)
	}
	t.Usage = Usage{PromptTokens: promptOf(r), CompletionTokens: int64(min(spoken, longestScripted)+1) / 2}
	return t, nil
}

func promptOf(r Request) int64 {
	n := len(r.System) + len(r.Ephemeral)
	for _, m := range r.Turns {
		n += len(m.Content)
		for _, call := range m.Calls {
			n += len(call.Name) + len(call.Arguments)
		}
	}
	return int64(n+1) / 2
}

// piecesOf cuts a text into a few words each, as a model would write it.
func piecesOf(text string) []string {
	const words = 4
	var pieces []string
	for len(text) > 0 {
		end, seen := 0, 0
		for end < len(text) && seen < words {
			if next := strings.IndexByte(text[end:], ' '); next >= 0 {
				end += next + 1
			} else {
				end = len(text)
			}
			seen++
		}
		pieces = append(pieces, text[:end])
		text = text[end:]
	}
	return pieces
}
