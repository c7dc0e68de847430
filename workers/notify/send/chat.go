package send

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"

	"countersign/models"
	"countersign/workers/notify/text"
)

// agentName is how requests say what sends them.
const agentName = "Countersign"

func newPost(ctx context.Context, address string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", agentName)
	return req, nil
}

// slack posts to an incoming webhook.
func (s *Sender) slack(ctx context.Context, to models.ChannelTarget, n models.Notice) models.SendResult {
	body, err := text.Slack(n)
	if err != nil {
		return failed(models.SendRejected, "the message cannot be written")
	}
	return s.post(ctx, to.URL, body)
}

// ntfy publishes as JSON: to the address above the topic's.
func (s *Sender) ntfy(ctx context.Context, to models.ChannelTarget, n models.Notice) models.SendResult {
	server, topic, ok := splitTopic(to.URL)
	if !ok {
		return failed(models.SendRefusedHost,
			"the address must be that of a topic, such as https://ntfy.example.com/my-topic")
	}
	body, err := text.Ntfy(n, topic)
	if err != nil {
		return failed(models.SendRejected, "the message cannot be written")
	}
	if to.Token == "" {
		return s.post(ctx, server, body)
	}
	if !visible(to.Token) {
		return failed(models.SendRejected, "the access token must contain only visible ASCII characters")
	}
	return s.post(ctx, server, body, header{"Authorization", "Bearer " + to.Token})
}

// splitTopic is a topic's server and name.
func splitTopic(address string) (server, topic string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", "", false
	}
	folder, topic, found := cutLast(strings.TrimRight(u.Path, "/"), "/")
	if !found || topic == "" || len(topic) > 64 || strings.Trim(topic, topicLetters) != "" {
		return "", "", false
	}
	u.Path, u.RawPath = folder+"/", ""
	return u.String(), topic, true
}

// topicLetters are those that ntfy takes in the name of a topic.
const topicLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
