package doctor_test

import (
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// addChannel adds a webhook of somebody to a folder in which no server runs.
func addChannel(t *testing.T, dir string) {
	t.Helper()
	s := storetest.New(t, storetest.WithDir(dir))
	ann := storetest.Reviewer(t, s, "ann@example.com")
	_, err := s.People.AddChannel(t.Context(), ann, models.ChannelInput{Kind: models.ChannelWebhook, Label: "pager", Target: models.ChannelTarget{URL: "https://hooks.example.com/x"}})
	storetest.Must(t, err)
	storetest.Must(t, s.Close())
}
