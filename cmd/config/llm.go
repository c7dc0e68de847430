package config

import (
	"errors"
	"log/slog"
	"math"
	"net/url"
	"strconv"

	"countersign/models"
)

// LLM says which model the built-in agent asks. Without a BaseURL it is the
// scripted one, a demonstration that needs no network.
type LLM struct {
	BaseURL     *url.URL // of an OpenAI-compatible endpoint, up to and without /chat/completions
	APIKey      Secret
	Model       string
	Rate        float64 // energy per 1,000 tokens
	MaxTurns    int     // of the model, since a person last did something
	Concurrency int     // conversations at a time
}

// LLMKeyEnv is the variable with the endpoint's key. There is no flag: others on
// the machine can read a process's arguments.
const LLMKeyEnv = "COUNTERSIGN_LLM_API_KEY"

// llmSettings are what the built-in agent's model is set up with, but for the key.
var llmSettings = []Setting{
	{
		"llm-base-url", "", "URL",
		"OpenAI-compatible endpoint of the built-in agent's model; its key: " + LLMKeyEnv +
			" (default: a scripted demonstration)", setLLMBaseURL,
	},
	{"llm-model", "", "NAME", "the model to ask for there", setLLMModel},
	{"llm-rate", "1", "N", "units of energy that 1,000 tokens of it cost", setLLMRate},
	{
		"llm-max-turns", "20", "N", "model calls before a person has to write again",
		count(1, 1000, func(c *Config) *int { return &c.LLM.MaxTurns }),
	},
	{
		"llm-concurrency", "4", "N", "conversations that the built-in agent works on at a time",
		count(1, 100, func(c *Config) *int { return &c.LLM.Concurrency }),
	},
}

func setLLMBaseURL(c *Config, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("must be an address such as http://localhost:11434/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must not contain a user, password, query or fragment; the key goes into " + LLMKeyEnv)
	}
	c.LLM.BaseURL = u
	return nil
}

func setLLMModel(c *Config, v string) error {
	c.LLM.Model = v
	if v == "" {
		return nil
	}
	if models.CheckText("llm-model", v, models.MaxName) != nil {
		return errors.New("must be the name of a model, at most 200 bytes")
	}
	return nil
}

func setLLMRate(c *Config, v string) error {
	rate, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(rate) || rate <= 0 || rate > maxRate {
		return errors.New("must be a number above 0, at most 1000000")
	}
	c.LLM.Rate = rate
	return nil
}

const maxRate = 1_000_000

func count(least, most int, field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return errors.New("must be a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most))
		}
		*field(c) = n
		return nil
	}
}

// check finds contradictions between the settings.
func (l LLM) check() error {
	if l.BaseURL != nil && l.Model == "" {
		return errors.New("--llm-model: is required with --llm-base-url")
	}
	if l.BaseURL == nil && l.Model != "" {
		return errors.New("--llm-base-url: is required with --llm-model")
	}
	return nil
}

// LogValue is how it is logged.
func (l LLM) LogValue() slog.Value {
	endpoint := ""
	if l.BaseURL != nil {
		endpoint = l.BaseURL.String()
	}
	return slog.GroupValue(
		slog.String("base_url", endpoint), slog.String("model", l.Model), slog.Bool("key", l.APIKey != ""),
		slog.Float64("rate", l.Rate), slog.Int("max_turns", l.MaxTurns), slog.Int("concurrency", l.Concurrency),
	)
}
