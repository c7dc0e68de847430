package pages

import "strings"

func whatLabel(v Approval) string {
	if v.Question {
		return "The question"
	}
	return "What will run"
}

func answerLabel(v Approval) string {
	if len(v.Options) > 0 {
		return "Or answer in your own words"
	}
	return "Answer"
}

// editRows makes the editor as high as its text, within reason.
func editRows(text string) int {
	return min(max(strings.Count(text, "\n")+2, 5), 24)
}
