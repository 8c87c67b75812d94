// Package rationale explains why a plan was chosen. It reads the document of a plan and compares
// the plan with the alternatives in it.
package rationale

import (
	"encoding/json"
	"fmt"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
)

// ReadSchema returns the schema that a document names. The error is a *capcli.InputError where the
// text is not JSON.
func ReadSchema(file string, text []byte) (string, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return "", notAPlan(file, "found "+err.Error())
	}
	return head.Schema, nil
}

// documents are the plans that can be explained, by the schemas of their documents.
var documents = map[string]func(file string, text []byte) (*Answer, error){
	"capcli/plan/v1": explainCurve, "capcli/plan_mix/v1": explainMixes, "capcli/plan_futures/v1": explainFutures,
}

// IsPlan reports whether documents of a schema can be explained.
func IsPlan(schema string) bool { return documents[schema] != nil }

// Explain explains from its document why a plan was chosen: the alternatives and their excess cost,
// the limit that binds, and the lower bound. The error is a *capcli.InputError where text is no
// document of a plan; file names it.
func Explain(file string, text []byte) (*Answer, error) {
	schema, err := ReadSchema(file, text)
	if err != nil {
		return nil, err
	}
	explain := documents[schema]
	if explain == nil {
		return nil, notAPlan(file, fmt.Sprintf("found schema %q", schema))
	}
	return explain(file, text)
}

func notAPlan(file, found string) error {
	return &capcli.InputError{
		File: file, Text: "expected a plan of capcli plan -o json, " + found,
		Hint: "write one with capcli plan … -o json --out plan.json",
	}
}

// Answer is why a plan was chosen: the document capcli/explain_plan/v1. Amounts with a * depend on
// the prices of the request.
type Answer struct {
	Schema     string      `json:"schema"`
	Subject    string      `json:"subject"`
	Cost       *capcli.USD `json:"cost_usd"`
	Bound      *capcli.USD `json:"lower_bound_usd"`
	Gap        *float64    `json:"optimality_gap"`
	Why        []string    `json:"why"`
	Terms      []Term      `json:"terms,omitempty"`
	Others     []Other     `json:"other_plans"`
	Binding    *string     `json:"binding_limit"`
	Candidates []Candidate `json:"one_more,omitempty"`
	Swings     []mix.Swing `json:"what_moves_the_cost,omitempty"`
	Assumed    []string    `json:"assumptions"`
	Unknown    []string    `json:"not_known"`

	Next string `json:"-"` // the next best alternative, in words
}

// Term is a term on offer: its break-even, and the purchases on it.
type Term struct {
	Term      string      `json:"term"`
	Rate      capcli.Rate `json:"usd_per_gpu_hour"`
	BreakEven float64     `json:"break_even_utilisation"`
	GPUs      float64     `json:"gpus_bought"`
	Cost      capcli.USD  `json:"cost_usd"`
	AtLimit   bool        `json:"at_its_limit"`
}

// Other is another plan and its excess cost over the chosen one.
type Other struct {
	Name  string      `json:"plan"`
	Cost  *capcli.USD `json:"cost_usd"`
	Loses *capcli.USD `json:"loses_usd"`
	Why   string      `json:"why,omitempty"`
}

// Candidate is one more GPU bought on a term at the best of its starts.
type Candidate struct {
	Term  string     `json:"term"`
	Start any        `json:"start"`
	Cost  capcli.USD `json:"cost_usd"`
	Saves capcli.USD `json:"saves_usd"`
	Loses capcli.USD `json:"loses_usd"`
}

// nearest sets Next to the other plan with the least excess cost; what is the word for such a plan.
func (d *Answer) nearest(what string) {
	for _, o := range d.Others {
		if o.Loses != nil && *o.Loses >= 0 {
			d.Next = fmt.Sprintf("of what it was compared with, %s %s loses least, %s*", what, o.Name, o.Loses)
			return
		}
	}
}
