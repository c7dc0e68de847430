package conversation

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/runs"
	"countersign/views"
	"countersign/views/pages/conversations"
)

func (s *Screens) newConversation(c echo.Context) error {
	return s.newConversationPage(c, http.StatusOK, conversations.NewConversationForm{})
}

func (s *Screens) newConversationPage(c echo.Context, status int, form conversations.NewConversationForm) error {
	frame, err := s.Frame(c, "New conversation", -1)
	if err != nil {
		return err
	}
	frame.Path = views.NewConversationURL()
	return handlers.Render(c, status, conversations.NewConversationPage(frame, form), nil)
}

// beginConversation has the built-in agent take up what a person says.
func (s *Screens) beginConversation(c echo.Context) error {
	values := c.Request().PostForm
	form := conversations.NewConversationForm{
		Content: strings.ReplaceAll(values.Get("content"), "\r\n", "\n"),
		Budget:  strings.TrimSpace(values.Get("energyBudget")),
	}
	in := models.MessageInput{Content: form.Content}
	var err error
	if strings.TrimSpace(form.Content) == "" {
		err = models.Invalid("content", "must not be empty")
	}
	if form.Budget != "" {
		n, failed := strconv.ParseInt(form.Budget, 10, 64)
		if in.EnergyBudget = &n; failed != nil && err == nil {
			err = models.Invalid("energyBudget", "must be a whole number of units")
		}
	}
	var result *models.MessageResult
	if err == nil {
		result, err = runs.New(s.Store).Say(c.Request().Context(), site.ActorOf(c), in)
	}
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		form.Errors = map[string]string{}
		for name, text := range e.Fields {
			if name == "energyBudget" {
				name = "budget"
			}
			form.Errors[name] = text
		}
		return s.newConversationPage(c, handlers.Status(e.Code), form)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.ConversationEndURL(result.Conversation.ID))
}
