// Package events reads files of events, which describe known future demand: steps, pulses, ramps,
// campaigns, teams and holidays.
package events

import (
	"cmp"
	_ "embed" // the template is a file
	"time"

	"go.yaml.in/yaml/v3"

	"capcli/forecast/roadmap"
	"capcli/scenarios/strict"
)

// version is the version of the file format, in an events file's first line: capcli: events/v1.
const version = "events/v1"

var form = strict.Form{Version: version, What: "a file of events", Template: "capcli forecast events init"}

// Plan holds the events of a file.
type Plan = roadmap.Plan

// Parse reads a file of events and checks all of it. Days and times without a zone are in the
// file's timezone, else in zone; nil is UTC. The error is *strict.Faults, with the place of each
// fault.
//
// open returns a file that the events name, relative to their own; it may be nil where they name none.
func Parse(file string, b []byte, zone *time.Location, open func(name string) ([]byte, error)) (*roadmap.Plan, error) {
	d := &strict.Decoder{Form: &form, Context: zone}
	out := &roadmap.Plan{File: file}
	if root := d.ReadTree(b); root != nil {
		readEvents(d, root, out)
	}
	for i := range out.List {
		out.List[i].File, out.List[i].Zone = file, zoneOf(d)
	}
	if d.FaultCount() > 0 {
		return nil, d.Refusal(cmp.Or(file, "events"), "a template with every field: "+d.Form.Template)
	}
	var err error
	if out.List, err = Settle(file, out.List, open); err != nil {
		return nil, err
	}
	return out, nil
}

// zoneOf returns the zone of times without one; nil is UTC.
func zoneOf(d *strict.Decoder) *time.Location {
	zone, _ := d.Context.(*time.Location)
	return zone
}

// readEvents reads the whole file.
func readEvents(d *strict.Decoder, root *yaml.Node, out *roadmap.Plan) {
	if !d.IsDescribing(root) && (root.Kind != yaml.MappingNode || strict.Child(root, "capcli") == nil && strict.Child(root, "events") == nil) {
		d.Fault(root, "this is no file of events: it begins with capcli: %s and has a list called events", version)
		return
	}
	if n := strict.Child(root, "timezone"); n != nil && n.Kind == yaml.ScalarNode {
		if zone, err := time.LoadLocation(n.Value); err == nil && zone != time.Local { // checkZone reports a wrong zone
			d.Context = zone
		}
	}
	o := d.ReadObject(root, "the top level", topFields(out))
	o.RequireWith("capcli", "the line capcli: %s is missing; it says which form of file this is", version)
	o.RequireWith("events", "events is missing; give at least one, such as - {name: launch, kind: step, from: 2027-01-15, gpus: 64}")
}

//go:embed events.yaml.txt
var template string

//go:embed request.yaml.txt
var requestTemplate string

// Template returns a file of events to start from. It is valid and has every field. With request it is a short file of
// one request for capacity.
func Template(request bool) string {
	if request {
		return requestTemplate
	}
	return template
}
