package serving

import (
	"fmt"

	"capcli"
)

func init() {
	Batchings.Add("prefill_first", "whole prompts first; sequences decode in iterations without prompts", prefillFirst{})
}

// prefillFirst is the default scheduler of vLLM's V0 engine: an iteration has either the whole prompts of
// those who are admitted, or a token of each who decodes.
type prefillFirst struct{}

func (prefillFirst) Check(c *Config) error {
	if c.MaxTokens < c.MaxLen {
		return &capcli.RequestError{
			Field: "max_tokens",
			Text:  fmt.Sprintf("is %d, and max_len is %d: %s takes a prompt whole, so an iteration must hold the longest", c.MaxTokens, c.MaxLen, c.Policy),
			Hint:  "raise max_tokens, lower max_len, or take the policy chunked",
		}
	}
	return nil
}

func (prefillFirst) Form(s *server) {
	s.admit(s.config.MaxTokens, true)
	if len(s.pieces) == 0 {
		s.decodeAll()
	}
}
