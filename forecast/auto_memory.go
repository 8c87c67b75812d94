package forecast

import (
	"fmt"
	"slices"
	"sync"

	"capcli"
	"capcli/forecast/model"
)

// Memory keeps the fits of Auto's members to the beginnings of one series. Auto backtests its
// members from starts in the past, and a backtest of Auto does so again from starts of its own:
// with a memory no member is fitted twice to the same values. It does not change any result. It
// is safe for concurrent use.
type Memory struct {
	mu   sync.Mutex
	fits map[fitKey]keptFit
}

// NewMemory returns an empty memory for one series.
func NewMemory() *Memory { return &Memory{fits: map[fitKey]keptFit{}} }

// fitKey identifies a fit: the model, with all its options, and the number of values that it was
// fitted to.
type fitKey struct {
	model string
	n     int
}

type keptFit struct {
	y   []float64 // the values that the model was fitted to
	fit model.Fitted
	err error
}

// remembered is a model that looks up its fits in a memory first.
type remembered struct {
	model.Model
	name   string
	memory *Memory
}

// member returns the model called name wrapped with the memory, or the model itself where m is
// nil.
func (m *Memory) member(name string, seasons []int, model model.Model) model.Model {
	if m == nil {
		return model
	}
	return remembered{Model: model, name: fmt.Sprint(name, seasons), memory: m}
}

// Fit returns the stored fit where there is one to the same values; else it fits the model and
// stores the fit.
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
