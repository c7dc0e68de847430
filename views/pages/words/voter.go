package words

import (
	"strings"

	"countersign/models"
)

// BehalfWords are the words between who voted and for whom. Somebody whose own name has them is quoted.
const BehalfWords = " on behalf of "

// ByWhom names who voted, and for whom if it was not in their own right, in a line of text:
// "Eve on behalf of Ann". Names are revealed.
func ByWhom(v *models.Vote) string {
	if v.BehalfName == "" {
		return VoterName(v.UserName)
	}
	return VoterName(v.UserName) + BehalfWords + VoterName(v.BehalfName)
}

// VoterName is the name of somebody who voted, revealed.
func VoterName(name string) string {
	name = models.RevealString(name, false)
	if strings.Contains(strings.ToLower(name), strings.TrimSpace(BehalfWords)) {
		return "“" + name + "”"
	}
	return name
}
