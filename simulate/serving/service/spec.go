// Package service reads the description of one service — its model and replicas, its promise, its
// requests, its scaler and where it may run — and answers questions about that service alone. A scenario
// has a list of them under services:.
package service

import (
	"go.yaml.in/yaml/v3"

	"capcli/scenarios/strict"
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
