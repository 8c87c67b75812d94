package main

import "fmt"

// maxFit is how many values a model is fitted to: more make the fit long and the
// forecast no better.
const maxFit = 20_000

// recent keeps the last values of a very long history, and says so.
func (hs *histories) recent() {
	for _, h := range hs.list {
		k := len(h.Values) - maxFit
		if k <= 0 {
			continue
		}
		h.warnings = append(h.warnings, fmt.Sprintf("%s values: the last %s are used", grouped(int64(len(h.Values))), grouped(maxFit)))
		if h.past != nil {
			h.past.forget(k)
		}
		h.Values = h.Values[k:]
		h.First += int64(k) * h.Stride
		if hs.clock {
			h.Grid.Origin = h.Grid.At(k)
			h.Start = h.Grid.Origin
		}
	}
}
