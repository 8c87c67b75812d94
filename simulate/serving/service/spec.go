// Package service reads the description of one service — its model and replicas, its promise, its
// requests, its scaler and where it may run — and answers questions about that service alone. A scenario
// has a list of them under services:.
package service

import (
	_ "embed" // the template is a file
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/scenarios/strict"
	"capcli/simulate/serving"
	"capcli/simulate/serving/agents"
)

// Spec is a service, checked.
type Spec struct {
	Name string

	Serving // the replicas and the promise
	Model   // the model and its GPUs
	Scaling // steps and scaler
	Load    // where requests come from
	Holding // which capacity it may hold

	Agents *agents.Workload // tasks of agents in place of requests; nil is none

	node *yaml.Node // for the lines of later faults
}

// Section reads a service block, of a scenario or of a file of its own.
var Section = strict.Section[Spec]{Name: "service", Start: Spec{Serving: usualServing}, Fields: fields, Check: check}

// fields are the fields of a service. Each part lists its own.
func fields(s *Spec) []strict.Field {
	out := []strict.Field{{"name", "what the service is called", strict.Name(&s.Name)}}
	out = append(out, s.servingFields()...)
	out = append(out, s.modelFields()...)
	out = append(out, s.scalingFields()...)
	out = append(out, s.loadFields()...)
	out = append(out, s.agentsFields()...)
	return append(out, s.holdingFields()...)
}

// check checks fields that depend on each other.
func check(o *strict.Object, s *Spec) {
	s.node = o.Node
	s.checkBatch(o)
	s.checkModel(o)
	s.checkServing(o)
	s.checkScaling(o)
	s.checkLoad(o)
	s.checkAgents(o)
	s.checkHolding(o)
}

// form is a file with one service block. The reference's files have no version line, so none is needed.
var form = strict.Form{What: "a service", Template: "capcli service init"}

// Shape describes a file with one service.
func Shape() strict.Shape {
	return strict.Describe(&form, nil, func(d *strict.Decoder, n *yaml.Node) {
		s := Section.Start
		Section.Read(d, n, &s)
	})
}

// Parse reads a service from a file of its own, YAML or JSON. The error is *strict.Faults.
func Parse(file string, b []byte) (*Spec, error) {
	d := &strict.Decoder{Form: &form}
	s := Section.Start
	if root := d.ReadTree(b); root != nil {
		s.node = root
		Section.Read(d, root, &s)
	}
	if d.FaultCount() > 0 {
		return nil, d.Refusal(file, "a template with every field: capcli service init")
	}
	return &s, nil
}

//go:embed template.yaml.txt
var templateText string

// Template returns a service to begin with. It can be played as it is and has every field, most of them as
// comments.
func Template() string {
	var more strings.Builder
	s := Section.Start
	for _, f := range fields(&s) {
		if !regexp.MustCompile(`(?m)^#?` + f.Name + `:`).MatchString(templateText) {
			fmt.Fprintf(&more, "#%s:  # %s\n", f.Name, f.Doc)
		}
	}
	if more.Len() == 0 {
		return templateText
	}
	return templateText + "\n# --- In a scenario.\n" + more.String()
}

// Change is another value of a field of a service; "" takes the field out.
type Change struct{ Field, Value string }

// With returns the service with single fields changed, read again as a whole: what follows from the
// changed fields follows anew. The error is a *capcli.InputError of the first fault.
func (s *Spec) With(changes ...Change) (*Spec, error) {
	if s.node == nil || s.node.Kind != yaml.MappingNode {
		return nil, &capcli.InputError{Text: fmt.Sprintf("the service %s was not read from a map of fields", capcli.Quoted(s.Name))}
	}
	root := *s.node
	root.Content = slices.Clone(s.node.Content)
	for _, c := range changes {
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value == c.Field {
				root.Content = slices.Delete(root.Content, i, i+2)
				break
			}
		}
		if c.Value != "" {
			root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: c.Field}, &yaml.Node{Kind: yaml.ScalarNode, Value: c.Value})
		}
	}
	text, err := yaml.Marshal(&root)
	if err != nil {
		return nil, fmt.Errorf("changing the service %s: %w", s.Name, err)
	}
	out, err := Parse(s.Name, text)
	if fault, ok := errors.AsType[*capcli.InputError](err); ok {
		return nil, &capcli.InputError{Field: fault.Field, Text: fault.Text, Hint: fault.Hint}
	}
	return out, err
}

// Text returns the fields of the service as they were read, in YAML.
func (s *Spec) Text() (string, error) {
	if s.node == nil {
		return s.Name, nil
	}
	text, err := yaml.Marshal(s.node)
	return string(text), err
}

// HasBatchTime reports whether the service has no tokens: its time is that of batches of requests.
func (s *Spec) HasBatchTime() bool { return len(s.Config.Time.Batch) > 0 }

// readBatchTime reads the times of batches: {1: 4ms, 32: 9ms}.
func (s *Spec) readBatchTime(d *strict.Decoder, n *yaml.Node) {
	var micros int64
	if d.AcceptsMap(n, "^[1-9][0-9]*$", picoseconds(&micros)) {
		return
	}
	var points [][2]int64
	d.ReadMap(n, "times by requests in a batch, such as {1: 4ms, 32: 9ms}", serving.MaxBatchPoints, func(key, value *yaml.Node) {
		var p [2]int64
		strict.Integer(&p[0], 1, serving.MaxBatch)(d, key)
		picoseconds(&p[1])(d, value)
		points = append(points, p)
	})
	if len(points) == 0 {
		return
	}
	t, err := serving.BatchTime(points)
	if err != nil {
		d.Fault(n, "%s", err)
		return
	}
	s.Config.Time = t
}

// ofTokens are the fields that only a service with tokens has a use for.
var ofTokens = append([]string{
	"policy", "batching", "time", "time_table", "block_size", "blocks", "watermark", "max_tokens", "max_len", "prefix_bound", "prefix_cache", "prefill", "agents", "api_price",
}, modelNames...)

// checkBatch checks and completes a service with batch_time: a free replica takes the requests that wait, at most
// max_seqs or the largest measured batch, and answers them together.
func (s *Spec) checkBatch(o *strict.Object) {
	if !s.HasBatchTime() {
		return
	}
	o.FaultEach(ofTokens, "%s is of a model with tokens; with batch_time the time of a batch is all that counts")
	c := &s.Config
	for _, name := range []string{"promise", "slo"} {
		if o.Has(name) && (c.SLO.TTFT > 0 || c.SLO.TPOT > 0) {
			o.FaultName(name, "requests of a service with batch_time have no tokens: promise e2e, the time from arrival to answer")
		}
	}
	most := c.Time.Batch[len(c.Time.Batch)-1][0]
	if o.Has("max_seqs") && c.MaxSeqs > most {
		o.Fault("max_seqs", "max_seqs is %d, and the largest batch of batch_time has %d requests; measure that batch too", c.MaxSeqs, most)
	}
	if !o.Has("max_seqs") {
		c.MaxSeqs = most
	}
	c.Policy, c.MaxTokens, c.MaxLen, c.BlockSize, c.Blocks = "chunked", c.MaxSeqs, 2, 2, c.MaxSeqs
}

// RequestsFrom returns the requests of a trace as the service counts them: those of a service with batch_time have
// one token each.
func (s *Spec) RequestsFrom(t *requests.Trace) []serving.Request { return s.count(RequestsOf(t)) }

func (s *Spec) count(list []serving.Request) []serving.Request {
	if !s.HasBatchTime() {
		return list
	}
	return capcli.Map(list, func(r serving.Request) serving.Request { return serving.Request{Arrival: r.Arrival, In: 1, Out: 1} })
}

// hasFigure reports whether a figure of a replay is known of the service: without tokens there are no times to them.
func (v *Variant) hasFigure(name string) bool {
	return !v.WithoutTokens || !slices.ContainsFunc([]string{"ttft", "tpot", "token", "mtok", "prompt", "preempt", "api"}, func(part string) bool { return strings.Contains(name, part) })
}
