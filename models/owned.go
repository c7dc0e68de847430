package models

// OwnedAgent is an agent with its owner and its tokens that work now, the newest first.
type OwnedAgent struct {
	Agent

	OwnerName, OwnerEmail string
	Tokens                []Token
}

// OwnedToken is a person's token with that person.
type OwnedToken struct {
	Token

	OwnerName, OwnerEmail string
}
