package main

import (
	"math"

	"capcli/forecast"
)

// bounded is a model as it is shipped: within the floor and the cap of a series, on
// the demand behind it. What it does on the past it does on the future.
func (o *forecastOptions) bounded(h *history, model string, steps int, opts forecast.Options) forecast.Bounded {
	b, _ := forecast.Shipped(model, h.Series, steps, opts) // the name was checked before
	if o.negative {
		b.Floor = math.Inf(-1)
	}
	b.Cap = h.most
	if past := h.past; past != nil {
		b.Behind = func(values []float64) (forecast.Behind, error) {
			t := past.behind(values, opts)
			return forecast.Behind{Demand: t.demand, Draw: t.draw, Unknown: t.unsure}, t.err
		}
	}
	return b
}
