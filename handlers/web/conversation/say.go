package conversation

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/runs"
	"countersign/views"
	"countersign/views/pages/conversations"
)

// say stores a message. An invalid one comes back in its form.
func (s *Screens) say(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	values := c.Request().PostForm
	form := conversations.SayForm{Sent: true, Content: strings.ReplaceAll(values.Get("content"), "\r\n", "\n")}
	if err = onlyWords(values, form.Content); err == nil {
		_, err = runs.New(s.Store).Say(c.Request().Context(), site.ActorOf(c),
			models.MessageInput{ConversationID: v.ID, Content: form.Content})
	}
	if err == nil {
		return c.Redirect(http.StatusSeeOther, views.ConversationEndURL(v.ID))
	}
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		form.Errors = atComposer(e)
		return s.conversationPage(c, handlers.Status(e.Code), conversations.Input{Conversation: *v, Say: form})
	}
	return err
}

// onlyWords refuses an empty message, and a form that also decides or changes the budget,
// as it did in earlier versions: a page may have been open since. Nothing of it is
// dropped in silence.
func onlyWords(values url.Values, content string) error {
	mode := values.Get("budgetMode")
	if values.Get("decision") != "" || mode == "set" || mode == "step" {
		return models.Errorf(models.CodeInvalid,
			"Nothing was saved, because Countersign was updated while this page was open. Decide on the request's card, and change the budget under Budget. Your message is still in the form.")
	}
	if strings.TrimSpace(content) == "" {
		return models.Invalid("content", "must not be empty")
	}
	return nil
}

// atComposer puts each text where its field is in the form.
func atComposer(e *models.Error) map[string]string {
	if len(e.Fields) == 0 {
		return map[string]string{"": e.Text}
	}
	out := make(map[string]string, len(e.Fields))
	for name, text := range e.Fields {
		if name == "content" {
			out[name] = text
		} else {
			out[""] = name + ": " + text
		}
	}
	return out
}
