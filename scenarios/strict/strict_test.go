package strict_test

import (
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
)

// rack is what the form of these tests states.
type rack struct {
	name  string
	gpus  int
	watts float64
}

var rackForm = strict.Form{Version: "rack/v1", What: "a rack", Template: "rack init"}

func (r *rack) fields() []strict.Field {
	return []strict.Field{
		{"capcli", "the form", strict.Version},
		{"name", "what it is called", strict.Name(&r.name)},
		{"gpus", "how many", strict.Integer(&r.gpus, 1, 72)},
		{"watts", "of a GPU", strict.Number(&r.watts, 0, 2000)},
	}
}

func read(text string) (rack, error) {
	var r rack
	d := &strict.Decoder{Form: &rackForm}
	if root := d.ReadTree([]byte(text)); root != nil && root.Kind == yaml.MappingNode {
		d.ReadObject(root, "the top level", r.fields()).Require("name")
	}
	if d.FaultCount() > 0 {
		return rack{}, d.Refusal("rack.yaml", "see rack init")
	}
	return r, nil
}

func TestReads(t *testing.T) {
	got, err := read("capcli: rack/v1\nname: a1\ngpus: 72\nwatts: 1.2e3\n")
	if want := (rack{"a1", 72, 1200}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// Each fault is said with its place, all of them at once.
func TestFaults(t *testing.T) {
	for _, x := range []struct {
		text string
		want []string // of path: text
	}{
		{"name: a\ngpus: 73", []string{"gpus: gpus is 73; want 1 to 72"}},
		{"name: a\ngpu: 8", []string{`: unknown field "gpu"; did you mean "gpus"?`}},
		{"gpus: 8", []string{"name: name is missing"}},
		{"name: a\nname: b", []string{`: "name" is given twice, first in line 1`}},
		{"name: a\nwatts: 1,5", []string{`watts: watts "1,5" has a comma; write 1.5`}},
		{"name: &x a", []string{": an anchor (&x) is not allowed here; write the value out where it is wanted"}},
		{"name:\n\tgpus: 8", []string{": a tab indents this line; YAML wants spaces"}},
		{"gpus: many\nwatts: -1", []string{"name: name is missing", `gpus: gpus: want a whole number, found "many"`, `watts: watts is "-1"; want 0 to 2000`}},
		{"capcli: rack/v2\nname: a", []string{`capcli: this is capcli "rack/v2"; here the program reads rack/v1`}},
		{"", []string{": the file is empty; a rack begins with capcli: rack/v1"}},
	} {
		_, err := read(x.text)
		faults, ok := errors.AsType[*strict.Faults](err)
		if !ok {
			t.Errorf("%q: got %v, want faults", x.text, err)
			continue
		}
		var got []string
		for _, f := range faults.List {
			got = append(got, f.Path+": "+f.Text)
		}
		if strings.Join(got, "\n") != strings.Join(x.want, "\n") {
			t.Errorf("%q:\n%s\nwant\n%s", x.text, strings.Join(got, "\n"), strings.Join(x.want, "\n"))
		}
		if in, ok := errors.AsType[*capcli.InputError](err); !ok || in.File != "rack.yaml" {
			t.Errorf("%q: %v is no bad input of the file", x.text, err)
		}
	}
}
