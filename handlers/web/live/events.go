package live

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/events"
	"countersign/views"
)

// watchedAgent is the agent that a page asks to hear of, if it is the reader's own.
func (s *Screens) watchedAgent(ctx context.Context, actor models.Actor, raw string) (models.AgentID, error) {
	if raw == "" {
		return "", nil
	}
	agents, err := s.Store.People.Agents(ctx, actor)
	if err != nil || !slices.ContainsFunc(agents, func(a models.Agent) bool { return a.ID == models.AgentID(raw) }) {
		return "", err
	}
	return models.AgentID(raw), nil
}

const (
	// mergeFor is how long the stream gathers events before it sends them.
	mergeFor = 250 * time.Millisecond
	// beatEvery is how often a stream says that the server is there: pages that do
	// not hear of it say that they are offline.
	beatEvery = 2 * time.Second
	// streamBuffer is how many topics may wait for one reader.
	streamBuffer = 64
	// maxWatched is how many requests one page may ask to hear of.
	maxWatched = 20
)

// events is the one stream of a page: it tells the names of what changed, only
// those that concern its reader, and never content. Elements refetch themselves.
// It ends within a second when the session does.
func (s *Screens) events(c echo.Context) error {
	actor := site.ActorOf(c)
	ctx := c.Request().Context()
	watches, err := s.watched(ctx, actor, c.QueryParams()["approval"])
	if err != nil {
		return err
	}
	conversation, err := s.watchedConversation(ctx, actor, c.QueryParam("conversation"))
	if err != nil {
		return err
	}
	agent, err := s.watchedAgent(ctx, actor, c.QueryParam("agent"))
	if err != nil {
		return err
	}
	leave, err := s.Streams.Enter(actor)
	if err != nil {
		return err
	}
	defer leave()
	defer s.Kit.Metrics.Stream(handlers.StreamsOfPages)()

	names := namesFor(actor, watches)
	addConversation(names, conversation)
	if agent != "" {
		names[events.Agent(string(agent))] = views.AgentTopic(agent)
	}
	topics := []events.Topic{events.Access, events.Outside}
	for t := range names {
		topics = append(topics, t)
	}
	sub, backlog, known := s.Store.Bus().SubscribeSince(events.Mark(c.QueryParam("since")), streamBuffer, topics...)
	defer sub.Close()
	// The session may have ended after the cookie was checked and before this stream subscribed.
	if err := s.Store.People.CheckCredential(ctx, actor); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, handlers.CacheControl(c.Request()))
	out, err := handlers.NewEventStream(c.Response())
	if err != nil {
		return nil // the reader is gone
	}
	t := &topicWriter{out: out, names: names, pending: make(map[string]bool)}
	if conversation != "" {
		t.mayHear = func() (bool, error) { return s.seesConversation(ctx, actor, conversation) }
	}
	t.begin(backlog, known)
	s.tell(ctx, actor, sub, t)
	return nil
}

// watched are the requests that a page shows, as far as its reader may see them.
func (s *Screens) watched(ctx context.Context, actor models.Actor, raw []string) ([]models.ResponseID, error) {
	var out []models.ResponseID
	for _, text := range raw[:min(len(raw), maxWatched)] {
		id, err := models.ParseID[models.ResponseID]("approval", text)
		if err != nil {
			continue
		}
		_, err = s.Store.Requests.Approval(ctx, actor, id)
		switch {
		case models.ErrorCode(err) == models.CodeNotFound:
			continue
		case err != nil:
			return nil, err
		}
		out = append(out, id)
	}
	return out, nil
}

// namesFor maps the topics that concern a reader to what they are called on the
// page.
func namesFor(actor models.Actor, watches []models.ResponseID) map[events.Topic]string {
	names := map[events.Topic]string{
		events.InboxOf(actor.ID): views.InboxTopic(),
		events.Policy:            views.PolicyTopic(),
	}
	if actor.Admin {
		names[events.InboxOfAdmins] = views.InboxTopic()
	}
	for _, id := range watches {
		names[events.Approval(string(id))] = views.ApprovalTopic(id)
		names[events.Presence(string(id))] = views.PresenceTopic(id)
	}
	return names
}

// tell runs a stream until its reader is gone or may hear no more.
func (s *Screens) tell(ctx context.Context, actor models.Actor, sub *events.Subscription, t *topicWriter) {
	alive := time.NewTicker(s.pulse)
	defer alive.Stop()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	idle := true // the timer runs: events are gathered until it fires
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.Streams.Stopped():
			return
		case topic := <-sub.C:
			if topic == events.Access || topic == events.Outside {
				if s.Store.People.CheckCredential(ctx, actor) != nil {
					return
				}
			}
			t.take(topic)
		case <-sub.Lag:
			t.all()
			if s.Store.People.CheckCredential(ctx, actor) != nil {
				return
			}
		case <-pause.C:
			idle = false
		case <-alive.C:
			if s.Store.People.CheckCredential(ctx, actor) != nil {
				return
			}
		case <-beat.C:
			err = t.out.Send(handlers.Event{Name: "beat", Data: "beat"})
		}
		if !idle && len(t.pending) > 0 {
			err = t.send()
			pause.Reset(mergeFor)
			idle = true
		}
		if err != nil {
			return
		}
	}
}

// topicWriter gathers the topics of changes and sends each name once.
type topicWriter struct {
	out     *handlers.EventStream
	names   map[events.Topic]string
	mayHear func() (bool, error) // whether the conversation is still its reader's to see; nil: there is none
	pending map[string]bool
	sent    int
}

// begin takes the events between the page and its stream, or while the stream was cut. If they are not known, anything
// may have changed. Presences and drafts are published only while a stream subscribes to them, so these names are
// always sent.
func (t *topicWriter) begin(backlog []events.Topic, known bool) {
	if !known {
		t.all()
	}
	for _, topic := range backlog {
		t.take(topic)
	}
	for topic, name := range t.names {
		if topic.Unremembered() {
			t.pending[name] = true
		}
	}
}

func (t *topicWriter) take(topic events.Topic) {
	if topic == events.Outside {
		t.all()
	}
	if name, ok := t.names[topic]; ok {
		t.pending[name] = true
	}
}

// all is for when anything may have changed.
func (t *topicWriter) all() {
	for _, name := range t.names {
		t.pending[name] = true
	}
}

func (t *topicWriter) send() error {
	if err := t.forgetHidden(); err != nil {
		return err
	}
	var out []handlers.Event
	for name := range t.pending {
		out = append(out, handlers.Event{Name: name, Data: name})
	}
	slices.SortFunc(out, func(a, b handlers.Event) int { return strings.Compare(a.Name, b.Name) })
	for i := range out {
		t.sent++
		out[i].ID = strconv.Itoa(t.sent)
	}
	clear(t.pending)
	return t.out.Send(out...)
}
