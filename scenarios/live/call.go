package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"capcli"
	"capcli/scenarios/whatif"
)

// errorSchema is the schema of the document of an error, which capcli -o json writes too.
const errorSchema = "capcli/error/v1"

// Failure is the document of an error.
type Failure struct {
	Schema string  `json:"schema"`
	Error  Problem `json:"error"`
}

// Problem is what was wrong.
type Problem struct {
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Field string `json:"field,omitempty"`
	Exit  int    `json:"exit"` // the exit code that capcli has for the error
}

// FailureOf returns the document of err.
func FailureOf(err error) *Failure {
	p := Problem{Text: err.Error(), Exit: 1}
	if in, is := errors.AsType[*capcli.InputError](err); is {
		p = Problem{Text: err.Error(), Hint: in.Hint, File: in.File, Line: in.Line, Field: in.Field, Exit: 3}
	}
	if wrong, is := errors.AsType[*capcli.RequestError](err); is {
		p.Hint, p.Field, p.Exit = wrong.Hint, wrong.Field, 2
	}
	if _, is := errors.AsType[*capcli.UnknownError](err); is {
		p.Exit = 2
	}
	if _, is := errors.AsType[*capcli.AccountingError](err); is {
		p.Exit = 7
	}
	if none, is := errors.AsType[*capcli.ResultError](err); is && errors.Is(err, capcli.NoPlan) {
		p.Hint, p.Exit = none.Hint, 6
	}
	return &Failure{errorSchema, p}
}

// Open returns the engine of a world, whose JSON is text, and the JSON {"ok":true}; or the document
// of the error and nil.
func Open(text string) (answer string, e *Engine) {
	answer = Guard(func() (any, error) {
		var w World
		if err := Decode(text, &w); err != nil {
			return nil, err
		}
		next, err := w.Engine()
		if err != nil {
			return nil, err
		}
		e = next
		return map[string]bool{"ok": true}, nil
	})
	return answer, e
}

// Call answers a request in JSON by the document of its result or of its error.
func (e *Engine) Call(ctx context.Context, operation, request string) string {
	return Guard(func() (any, error) {
		if e == nil {
			return nil, errors.New("the engine was not opened")
		}
		switch operation {
		case "simulate":
			var r SimulateRequest
			if err := Decode(request, &r); err != nil {
				return nil, err
			}
			return e.Simulate(ctx, r)
		case "whatif":
			var r whatif.Request
			if err := Decode(request, &r); err != nil {
				return nil, err
			}
			return e.WhatIf(ctx, r)
		case "knobs":
			return e.Knobs(ctx)
		case "jobs":
			return e.JobsCSV(ctx)
		}
		return nil, &capcli.RequestError{Field: "operation", Text: fmt.Sprintf("wants simulate, whatif, knobs or jobs, found %.40q", operation)}
	})
}

// Decode reads a request, whose members must be known.
func Decode(text string, to any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return &capcli.RequestError{Text: "the request is not as it must be: " + err.Error()}
	}
	return nil
}

// Guard returns the JSON of what answer returns. A crash becomes an error.
func Guard(answer func() (any, error)) (text string) {
	failed := func(err error) string {
		b, _ := json.Marshal(FailureOf(err)) // it holds texts and numbers only
		return string(b)
	}
	defer func() {
		if v := recover(); v != nil {
			text = failed(fmt.Errorf("internal error: %v", v))
		}
	}()
	out, err := answer()
	if err != nil {
		return failed(err)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return failed(err)
	}
	return string(b)
}
