package focus

import (
	"time"

	"capcli"
)

// mostTexts is the most distinct texts that a Memo keeps.
const mostTexts = 1 << 16

// Memo caches the results of a function of a text, for up to mostTexts texts.
type Memo[V any] struct {
	of    func(text string) V
	known map[string]V
}

// NewMemo returns an empty cache of the results of a function.
func NewMemo[V any](of func(text string) V) *Memo[V] { return &Memo[V]{of, map[string]V{}} }

// Find returns the function's result for a text.
func (m *Memo[V]) Find(text string) V {
	v, ok := m.known[text]
	if !ok {
		if v = m.of(text); len(m.known) < mostTexts {
			m.known[text] = v
		}
	}
	return v
}

// WantInstant describes an instant, for error messages.
const WantInstant = "an instant such as 2027-01-01T00:00:00Z"

// ParseInstant parses an instant in the first of layouts that fits. It returns capcli.NoTime
// where none fits.
func ParseInstant(text string, layouts ...string) capcli.Time {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return capcli.TimeOf(t)
		}
	}
	return capcli.NoTime
}
