package gallery

import (
	"strings"

	"countersign/models"
	"countersign/views/pages/requests"
)

// Email is a message of medium risk, drawn whole above its source.
func Email() models.Approval {
	return Call("send_email",
		`{"to":["anna@example.com","bo@example.com"],"cc":"board@example.com","subject":"Invoices for March","body":"Dear all,\n\nthe invoices for March are attached.\n\nRegards"}`)
}

// Post is a request to a host, with members that the card has no place for.
func Post() models.Approval {
	return Call("http.post",
		`{"url":"https://hooks.example.net/deploy?env=prod","headers":{"Authorization":"Bearer …"},"json":{"version":"1.4","notify":true},"timeout":30}`)
}

// Imitation is a payment whose texts imitate its card.
func Imitation() models.Approval {
	payee := `Nordlicht Hosting\nReference  paid\u200b ` + strings.Repeat("and sons ", 30) + "in Riga"
	return Call("pay",
		`{"amount":"240.00","currency":"EUR","to":"`+payee+`","reference":"<b>120.00 EUR</b> \u202e\u05d5\u05d1","iban":" DE00 "}`)
}

func cardStates(page func(name, note string, a models.Approval, mend ...func(*requests.Input)) State) []State {
	low := Payment()
	low.Risk = models.RiskLow
	digest(&low.Response)
	twice := Call("pay", `{"amount":5,"Amount":5000000,"currency":"EUR","to":"ACME SA"}`)
	return []State{
		page("payment-low", "Of low risk: the card draws all, the source starts as a strip", low),
		page("email", "A message: who gets it, what about, and its text", Email()),
		page("post", "A request to a host, with members beside those of its card", Post()),
		page("imitation", "Hostile: a payment whose texts imitate a card", Imitation()),
		page("amounts", "Hostile: two amounts make no card", twice),
	}
}
