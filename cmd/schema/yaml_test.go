package schema

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"capcli/scenarios"
	"capcli/scenarios/events"
	"capcli/scenarios/kinds"
	"capcli/scenarios/money/prices"
	"capcli/simulate/serving/service"
)

// readers are the strict readers of the YAML files, by the name of their schema.
var readers = map[string]func(text []byte) error{
	"scenario":    func(b []byte) error { _, err := scenarios.Parse("s.yaml", b); return err },
	"portfolio":   func(b []byte) error { _, err := scenarios.ParsePortfolio("p.yaml", b); return err },
	"market":      func(b []byte) error { _, err := scenarios.ParseMarket("m.yaml", b); return err },
	"events":      func(b []byte) error { _, err := events.Parse("e.yaml", b, time.UTC, nil); return err },
	"kinds":       func(b []byte) error { _, err := kinds.Parse("k.yaml", b); return err },
	"service":     func(b []byte) error { _, err := service.Parse("s.yaml", b); return err },
	"prices_file": func(b []byte) error { _, err := prices.Parse("p.yaml", b); return err },
}

// validatorOf returns a validator of YAML text by the schema called name.
func validatorOf(t testing.TB, name string) func(text []byte) error {
	t.Helper()
	s, err := Print(name, false)
	if err != nil {
		t.Fatal(err)
	}
	v := compile(t, s)
	return func(text []byte) error {
		var doc yaml.Node
		if err := yaml.Unmarshal(text, &doc); err != nil {
			return err
		}
		if len(doc.Content) == 0 {
			return v.Validate(nil)
		}
		return v.Validate(jsonValue(doc.Content[0]))
	}
}

// jsonValue returns the JSON value of a YAML node by the core schema of YAML 1.2, as editors see it.
func jsonValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = jsonValue(n.Content[i+1])
		}
		return out
	case yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			out = append(out, jsonValue(c))
		}
		return out
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return nil
		case "!!bool":
			return n.Value == "true"
		case "!!int", "!!float":
			if v, err := jsonschema.UnmarshalJSON(strings.NewReader(n.Value)); err == nil {
				return v
			}
		}
		return n.Value
	default:
		return n.Value
	}
}

var firstLine = regexp.MustCompile(`(?m)^capcli: (\S+)/v1\s*$`)

// serviceLine is a line that only a service has at the left edge.
var serviceLine = regexp.MustCompile(`(?m)^(replicas|mu|scaler|promise|gpu_model): `)

// yamlFiles returns every text of a YAML file of ours that stands in the tests and the library, by where it
// stands.
func yamlFiles(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"template": []byte(scenarios.Template()), "events template": []byte(events.Template(false)), "request template": []byte(events.Template(true)), "service template": []byte(service.Template())}
	for _, name := range scenarios.Names() {
		out["library "+name], _ = scenarios.Library(name)
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := os.ReadFile(name)
		switch filepath.Ext(name) {
		case ".txtar":
			for _, f := range txtar.Parse(text).Files {
				if strings.HasSuffix(f.Name, ".yaml") {
					out[name+" "+f.Name] = f.Data
				}
			}
		case ".yaml":
			out[name] = text
		case ".go":
			if strings.HasSuffix(name, "_test.go") {
				for i, s := range rawStrings(string(text)) {
					out[name+" "+string(rune('a'+i%26))+strings.Repeat("'", i/26)] = []byte(s)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rawStrings returns the strings of Go source in back quotes that begin like a file of ours.
func rawStrings(text string) []string {
	var out []string
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 && strings.HasPrefix(strings.TrimSpace(part), "capcli: ") {
			out = append(out, part)
		}
	}
	return out
}

// kindOf returns the name of the schema of a YAML file of ours; "" where it is none.
func kindOf(text []byte) string {
	m := firstLine.FindSubmatch(text)
	if m == nil && serviceLine.Match(text) {
		return "service" // which has no line with its version
	}
	if m == nil {
		return ""
	}
	name := string(m[1])
	if name == "prices" {
		name = "prices_file"
	}
	if readers[name] == nil {
		return ""
	}
	return name
}

// TestYAMLSchemas holds each schema of a YAML file against its strict reader on every file of the library
// and the tests: what the reader takes, the schema takes. What the reader refuses and a schema cannot (two
// fields together, a name given twice, a date that is none) is counted.
func TestYAMLSchemas(t *testing.T) {
	validators := map[string]func([]byte) error{}
	for name := range readers {
		validators[name] = validatorOf(t, name)
	}
	type tally struct{ taken, refused, passed int }
	count := map[string]*tally{}
	for where, text := range yamlFiles(t) {
		name := kindOf(text)
		if name == "" {
			continue
		}
		if count[name] == nil {
			count[name] = &tally{}
		}
		read, valid := readers[name](text), validators[name](text)
		switch {
		case read == nil && valid != nil:
			t.Errorf("%s is read, but its schema refuses it: %v", where, valid)
		case read == nil:
			count[name].taken++
		case valid != nil:
			count[name].refused++
		default:
			count[name].passed++
		}
	}
	for _, d := range inputs {
		name := NameOf(d.id)
		if name == "prices" {
			name = "prices_file"
		}
		c := count[name]
		if c == nil || c.taken == 0 {
			t.Errorf("no file of %s is taken", name)
			continue
		}
		t.Logf("%-12s %3d files taken by both, %3d refused by both, %3d refused by the reader alone", name, c.taken, c.refused, c.passed)
	}
}

// TestYAMLSchemaRefusesStructure holds that the schemas refuse what is wrong in the structure of a file.
func TestYAMLSchemaRefusesStructure(t *testing.T) {
	const pool = "capacity: [{kind: owned, gpus: 4, price: 1}]\n"
	valid := validatorOf(t, "scenario")
	if err := valid([]byte("capcli: scenario/v1\n" + pool)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text string }{
		{"no version", pool},
		{"no capacity", "capcli: scenario/v1\n"},
		{"another version", "capcli: scenario/v2\n" + pool},
		{"an unknown field", "capcli: scenario/v1\npolcy: easy\n" + pool},
		{"an unknown field of a pool", "capcli: scenario/v1\ncapacity: [{kind: owned, gpu: 4, price: 1}]\n"},
		{"an unknown policy", "capcli: scenario/v1\npolicy: easyy\n" + pool},
		{"a list for a name", "capcli: scenario/v1\nname: [a]\n" + pool},
		{"a field without a value", "capcli: scenario/v1\nname:\n" + pool},
		{"a number too small", "capcli: scenario/v1\ncapacity: [{kind: owned, gpus: 0, price: 1}]\n"},
		{"a fraction of a GPU", "capcli: scenario/v1\ncapacity: [{kind: owned, gpus: 1.5, price: 1}]\n"},
		{"a word for a truth", "capcli: scenario/v1\njobs: {from: a.csv, cpu_jobs: yes}\n" + pool},
		{"a length without a unit", "capcli: scenario/v1\npolicy: {name: easy, guard: 3 hours}\n" + pool},
		{"a metric that is none", "capcli: scenario/v1\nlimits: {wait_p96: 30m}\n" + pool},
		{"a tenant without a name", "capcli: scenario/v1\ntenants: [{weight: 2}]\n" + pool},
		{"a section that lacks a field", "capcli: scenario/v1\ndefragment: {most_moves: 2}\n" + pool},
	} {
		if err := readers["scenario"]([]byte(tt.text)); err == nil {
			t.Errorf("%s: the reader takes it", tt.name)
		}
		if err := valid([]byte(tt.text)); err == nil {
			t.Errorf("%s: the schema takes it", tt.name)
		}
	}
	if err := readers["scenario"]([]byte("capcli: scenario/v1\njobs: [a]\n" + pool)); err == nil {
		t.Error("a list of jobs is read")
	}
}
