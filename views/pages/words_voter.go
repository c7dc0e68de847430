package pages

import (
	"strings"

	"countersign/models"
)

// behalfWords are what stands between who voted and for whom. Somebody whose own name has them
// is quoted.
const behalfWords = " on behalf of "

// byWhom names who voted, and for whom if it was not in their own right, in a line of text:
// "Eve on behalf of Ann". Names are revealed.
func byWhom(v *models.Vote) string {
	if v.BehalfName == "" {
		return voterName(v.UserName)
	}
	return voterName(v.UserName) + behalfWords + voterName(v.BehalfName)
}

func voterName(name string) string {
	name = models.RevealString(name, false)
	if strings.Contains(strings.ToLower(name), strings.TrimSpace(behalfWords)) {
		return "“" + name + "”"
	}
	return name
}
