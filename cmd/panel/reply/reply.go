// Package reply answers the requests of the what-if panel: an answer with its pictures drawn. The
// engine in a page and the server use it, so that both answer alike.
package reply

import (
	"context"
	"encoding/json"

	"capcli/cmd/report/draw"
	"capcli/scenarios/live"
	"capcli/scenarios/vary"
	"capcli/scenarios/whatif"
)

// Engine answers requests in JSON by the document of the result or of the error.
type Engine interface {
	Call(ctx context.Context, operation, request string) string
}

// played is the engine of a scenario.
type played struct{ *live.Engine }

// Call answers a request: see the function Call.
func (p played) Call(ctx context.Context, operation, request string) string {
	return Call(ctx, p.Engine, operation, request)
}

// Open returns the engine of a world, whose JSON is text: that of a decision or of a scenario. The answer is the JSON
// {"ok":true}, or the document of the error.
func Open(text string) (answer string, e Engine) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal([]byte(text), &head); err == nil && head.Schema == vary.Schema {
		answer, decision := vary.Open(text)
		if decision != nil {
			return answer, decision
		}
		return answer, played{}
	}
	answer, scenario := live.Open(text)
	return answer, played{scenario}
}

// Reply is an answer with its pictures.
type Reply struct {
	*live.Answer
	Pictures []Picture `json:"pictures"`
}

// Picture is a figure drawn for a page.
type Picture struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Sentence string  `json:"sentence"`
	SVG      string  `json:"svg"`
	Legend   []Entry `json:"legend"`
}

// Entry is an entry of a legend; Class gives its colour.
type Entry struct {
	Class string `json:"class"`
	Name  string `json:"name"`
	Style string `json:"style"`
}

// Call answers a request in JSON by the document of its result or of its error: panel by a Reply, and
// what live.Engine.Call answers.
func Call(ctx context.Context, e *live.Engine, operation, request string) string {
	if operation != "panel" || e == nil {
		return e.Call(ctx, operation, request)
	}
	return live.Guard(func() (any, error) {
		var r whatif.Request
		if err := live.Decode(request, &r); err != nil {
			return nil, err
		}
		return Answer(ctx, e, r)
	})
}

// Answer answers a request with pictures.
func Answer(ctx context.Context, e *live.Engine, r whatif.Request) (*Reply, error) {
	a, err := e.WhatIf(ctx, r)
	if err != nil {
		return nil, err
	}
	out := &Reply{Answer: a, Pictures: []Picture{}}
	for i := range a.Figures {
		f := &a.Figures[i]
		d, err := draw.Inline(f, draw.Options{})
		if err != nil {
			return nil, err
		}
		p := Picture{ID: f.ID, Title: f.Title, Sentence: f.Sentence, SVG: d.SVG, Legend: []Entry{}}
		for _, x := range d.Legend {
			p.Legend = append(p.Legend, Entry{x.Class, x.Name, string(x.Style)})
		}
		out.Pictures = append(out.Pictures, p)
	}
	return out, nil
}
