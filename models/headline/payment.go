package headline

import (
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// Payment is money that would be sent. Its texts are as they were sent.
type Payment struct {
	drawn
	Amount, Currency, Payee string
	Account                 string // of the payee; empty: not said
	Reference               string // empty: not said
}

var (
	// amount is a number that reads the same everywhere.
	amount   = regexp.MustCompile(`^[0-9]{1,18}(\.[0-9]{1,9})?$`)
	currency = regexp.MustCompile(`^[A-Za-z]{3}$`)
)

func readPayment(members map[string]jsontext.Value) (Headline, bool) {
	f := newFields(members)
	p := &Payment{Account: f.maybe("iban", "account")}
	p.Amount = f.literal("amount")
	var payee string
	p.Currency, _ = f.text("currency")
	p.Payee, payee = f.text("to", "recipient", "payee")
	p.Reference = f.literal("reference", "memo", "invoice")
	all, ok := f.all()
	if !ok || !amount.MatchString(p.Amount) || !currency.MatchString(p.Currency) {
		return Headline{}, false
	}
	p.drawn = all
	h := Headline{
		Lead: "Pay " + p.Amount + " " + p.Currency + " to", Rest: name(p.Payee),
		Hidden: without(all, "amount", "currency", payee), Known: p,
	}
	h.account(p)
	return h, true
}

// maxAccount is the longest number of an account that is shown whole, in characters: that of
// the longest IBAN.
const maxAccount = 34

// account says to which account money would go, where that is not its payee: whole, or else
// its last four characters. In parentheses it can't be taken for a part of the payee's name.
func (h *Headline) account(p *Payment) {
	number := []rune(p.Account)
	if len(number) > maxAccount {
		h.Tail, h.Cut = "(account …"+word(string(number[len(number)-4:]))+")", true
		return
	}
	if h.Hidden = without(h.Hidden, "iban", "account"); p.Account != "" && p.Account != p.Payee {
		h.Tail = "(account " + word(p.Account) + ")"
	}
}

// literal is a text, or a number as it was sent; empty if it is not there.
func (f *fields) literal(names ...string) string {
	raw, _ := f.ofKind(`"0`, names...)
	if text, ok := textOf(raw); ok {
		return text
	}
	return string(raw)
}
