package events

import (
	"go.yaml.in/yaml/v3"

	"capcli/forecast/roadmap"
	"capcli/scenarios/strict"
)

// Shape describes a file of events.
func Shape() strict.Shape {
	return strict.Describe(&form, nil, func(d *strict.Decoder, n *yaml.Node) { readEvents(d, n, &roadmap.Plan{}) })
}
