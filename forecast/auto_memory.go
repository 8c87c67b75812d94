package forecast

import (
	"fmt"
	"slices"
	"sync"

	"capcli"
	"capcli/forecast/model"
)

// Memory keeps what the members of Auto made of one series and of its beginnings.
// Auto tries its members from starts in the past, and a backtest of Auto does so
// again from starts of its own: with a memory no member is fitted twice to the same
// values. It changes no figure. It may be used by several goroutines at once.
type Memory struct {
	mu   sync.Mutex
	fits map[fitKey]keptFit
}

// NewMemory is a memory for one series.
func NewMemory() *Memory { return &Memory{fits: map[fitKey]keptFit{}} }

// fitKey is a model, with all that it was made with, and how many values it saw.
type fitKey struct {
	model string
	n     int
}

type keptFit struct {
	y   []float64 // the values seen
	fit model.Fitted
	err error
}

// remembered is a model that looks into a memory first.
type remembered struct {
	model.Model
	name   string
	memory *Memory
}

// member is a model of the combination, with the memory where there is one.
func (m *Memory) member(name string, seasons []int, model model.Model) model.Model {
	if m == nil {
		return model
	}
	return remembered{Model: model, name: fmt.Sprint(name, seasons), memory: m}
}

// Fit gives the fit that is kept, where the values are the same.
func (r remembered) Fit(y capcli.Series) (model.Fitted, error) {
	key, m := fitKey{r.name, len(y.Values)}, r.memory
	m.mu.Lock()
	kept, ok := m.fits[key]
	m.mu.Unlock()
	if ok && slices.Equal(kept.y, y.Values) {
		return kept.fit, kept.err
	}
	fit, err := r.Model.Fit(y)
	m.mu.Lock()
	m.fits[key] = keptFit{y.Values, fit, err}
	m.mu.Unlock()
	return fit, err
}
