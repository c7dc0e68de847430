package server

import (
	"log/slog"

	"countersign/cmd/config"
	"countersign/models/store"
	"countersign/workers/agent"
	"countersign/workers/llm"
)

// newBuiltIn makes the built-in agent with the model that the settings name.
func newBuiltIn(l config.LLM, s *store.Store, log *slog.Logger) *agent.Agent {
	model := llm.NewScripted()
	if l.BaseURL != nil {
		model = llm.NewOpenAI(llm.OpenAIOptions{
			BaseURL: l.BaseURL.String(), APIKey: string(l.APIKey), Model: l.Model, Log: log,
		})
	}
	return agent.New(agent.Options{
		Store: s, Model: model, Rate: l.Rate, MaxTurns: l.MaxTurns, Concurrency: l.Concurrency, Log: log,
	})
}
