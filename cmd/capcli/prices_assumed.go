package main

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/scenarios"
)

// assumedJSON is a price that a result rests on and that is not the scenario's
// own number.
type assumedJSON struct {
	Pool   string       `json:"pool"`
	Field  string       `json:"field"`
	Key    string       `json:"key"`
	PerGPU *capcli.Rate `json:"gpu_hour_usd"`
	Date   string       `json:"date"`
	Source string       `json:"source"`
	File   string       `json:"file,omitempty"`
	Line   int          `json:"line,omitempty"`
	Text   string       `json:"text"`
}

func assumed(s *scenarios.Scenario) []assumedJSON {
	out := []assumedJSON{}
	for _, a := range s.Assumptions() {
		j := assumedJSON{Pool: a.Pool, Field: a.Field, Key: a.Key, Text: a.Text}
		if a.Key != "" {
			per := a.Row.PerGPU()
			j.PerGPU, j.Date, j.Source, j.File = &per, dayOf(a.Row.Date), a.Row.Source, a.Row.File
			if a.Row.File != "" {
				j.Line = a.Row.Line
			}
		}
		j.Source = cmp.Or(j.Source, "the scenario")
		out = append(out, j)
	}
	return out
}

// starredPrices are the same for people: what the * of a cost stands for.
func starredPrices(s *scenarios.Scenario) []string {
	var out []string
	for _, a := range s.Assumptions() {
		out = append(out, "* "+a.Text)
	}
	return slices.Compact(out)
}
