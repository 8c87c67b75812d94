package schema

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"capcli"
	"capcli/forecast/demand"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
)

// compile returns a validator of s by an implementation that is not ours. It also holds s against the
// metaschema of the draft.
func compile(t testing.TB, s *Schema) *jsonschema.Schema {
	t.Helper()
	text, err := marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("urn:test", doc); err != nil {
		t.Fatal(err)
	}
	out, err := c.Compile("urn:test")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// check returns what a validator says of a value's JSON.
func check(t testing.TB, v *jsonschema.Schema, value any) error {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.Validate(doc)
}

func TestEverySchemaIsValid(t *testing.T) {
	for _, d := range Documents.All() {
		for _, closed := range []bool{false, true} {
			s, err := Print(d.Name, closed)
			if err != nil {
				t.Errorf("%s: %v", d.Name, err)
				continue
			}
			compile(t, s)
		}
	}
	if _, err := Print("plan-mix", false); err != nil {
		t.Errorf("a name with a dash: %v", err)
	}
	if _, err := Print("plan_mixx", false); err == nil || !strings.Contains(err.Error(), `did you mean "plan_mix"?`) {
		t.Errorf("an unknown name: %v", err)
	}
}

// documentID is the value of a document's member schema, as it stands in the source.
var documentID = regexp.MustCompile(`"(capcli/[a-z_-]+/v[0-9]+)"`)

// TestEveryDocumentHasASchema finds each document in the source of the program, and that documents.go
// describes it.
func TestEveryDocumentHasASchema(t *testing.T) {
	have := map[string]bool{}
	for _, d := range Documents.All() {
		have[d.Value.ID] = true
	}
	found := 0
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" || name == filepath.Join(root, "cmd", "schema")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(name)
		for _, m := range documentID.FindAllSubmatch(text, -1) {
			found++
			if !have[string(m[1])] {
				t.Errorf("%s: %s has no schema: add it to outputs in cmd/schema/documents.go", name, m[1])
				have[string(m[1])] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < len(outputs) {
		t.Errorf("%d documents found in the source, but %d are described", found, len(outputs))
	}
}

// TestKnown holds values of each type that writes its own JSON against what known says of it.
func TestKnown(t *testing.T) {
	values := map[reflect.Type][]any{
		reflect.TypeFor[capcli.USD]():      {capcli.USD(0), capcli.USD(-1), capcli.USD(1), capcli.USD(math.MaxInt64)},
		reflect.TypeFor[focus.Amount]():    {focus.AmountOf(-5), focus.AmountOf(math.MaxInt64)},
		reflect.TypeFor[capcli.Time]():     {capcli.NoTime, capcli.Time(0), capcli.Time(2_000_000_000)},
		reflect.TypeFor[market.Instant]():  {market.Instant{Time: 5}, market.Instant{Time: capcli.NoTime, Period: 1.5}},
		reflect.TypeFor[capcli.GPUTime]():  {capcli.GPUTime(0), capcli.GPUTime(1), capcli.GPUTime(math.MaxInt64)},
		reflect.TypeFor[capcli.Figure]():   {capcli.Figure(1e300), capcli.Figure(1e-300), capcli.Figure(math.NaN()), capcli.Figure(math.Inf(1))},
		reflect.TypeFor[billing.MilliWh](): {billing.MilliWh(1), billing.MilliWh(-7_000_000)},
		reflect.TypeFor[billing.Carbon]():  {billing.Carbon(1), billing.Gram, billing.Tonne},
		reflect.TypeFor[demand.Level]():    {demand.Level{}, demand.Level{GPUs: 2}, demand.Level{File: "x"}, demand.Level{Measured: true}},
	}
	for typ, list := range values {
		m := NewMaker("#/$defs/")
		v := compile(t, m.Describe(typ))
		for _, x := range list {
			if err := check(t, v, x); err != nil {
				t.Errorf("%v: %v", typ, err)
			}
		}
		if err := check(t, v, []int{}); err == nil {
			t.Errorf("%v: an array is allowed", typ)
		}
	}
	if err := check(t, compile(t, money(nil)), 1.5); err == nil {
		t.Error("money may be a number")
	}
	rapid.Check(t, func(r *rapid.T) {
		u, at := capcli.USD(rapid.Int64().Draw(r, "usd")), capcli.Time(rapid.Int64Range(0, 1<<37).Draw(r, "time"))
		for _, x := range []struct {
			pattern string
			value   json.Marshaler
		}{{moneyPattern, u}, {stampPattern, at}} {
			text, err := x.value.MarshalJSON()
			if err != nil || !regexp.MustCompile(x.pattern).Match(bytes.Trim(text, `"`)) {
				r.Fatalf("%s does not match %s: %v", text, x.pattern, err)
			}
		}
	})
}

type (
	innerOfTest struct {
		Seen   int `json:"seen"`
		Hidden int `json:"name"`
	}
	treeOfTest struct {
		innerOfTest
		Name  string                 `json:"name"`
		Money *capcli.USD            `json:"money"`
		Left  *treeOfTest            `json:"left,omitempty"`
		Kids  []treeOfTest           `json:"kids"`
		By    map[string]capcli.Time `json:"by,omitempty"`
		Pair  [2]uint8               `json:"pair"`
		Any   any                    `json:"any"`
		Not   chan int               `json:"-"`
		none  int
	}
)

func TestReflection(t *testing.T) {
	m := NewMaker("#/$defs/")
	m.Closed = true
	s := m.Describe(reflect.TypeFor[treeOfTest]())
	if err := m.Fault(); err != nil {
		t.Fatal(err)
	}
	v := compile(t, &Schema{Ref: s.Ref, Defs: m.Defs})
	money := capcli.USD(5)
	good := treeOfTest{Name: "a", Money: &money, Kids: []treeOfTest{{Kids: []treeOfTest{}, Pair: [2]uint8{1, 2}}}, Left: &treeOfTest{Kids: []treeOfTest{}}, none: 1}
	if err := check(t, v, good); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct{ name, text string }{
		{"a list that is null", `{"seen": 1, "name": "", "money": null, "kids": null, "pair": [1, 2], "any": 1}`},
		{"a member too many", `{"seen": 1, "name": "", "money": null, "kids": [], "pair": [1, 2], "any": 1, "none": 1}`},
		{"a member too few", `{"seen": 1, "name": "", "money": null, "kids": [], "pair": [1, 2]}`},
		{"a pair of three", `{"seen": 1, "name": "", "money": null, "kids": [], "pair": [1, 2, 3], "any": 1}`},
		{"money as a number", `{"seen": 1, "name": "", "money": 1.5, "kids": [], "pair": [1, 2], "any": 1}`},
		{"a hidden field", `{"seen": 1, "name": 5, "money": null, "kids": [], "pair": [1, 2], "any": 1}`},
		{"no time", `{"seen": 1, "name": "", "money": null, "kids": [], "pair": [1, 2], "any": 1, "by": {"a": 1}}`},
		{"wrong below", `{"seen": 1, "name": "", "money": null, "kids": [{}], "pair": [1, 2], "any": 1}`},
	} {
		if err := check(t, v, json.RawMessage(tt.text)); err == nil {
			t.Errorf("%s is allowed", tt.name)
		}
	}
	bad := NewMaker("#/$defs/")
	bad.Describe(reflect.TypeFor[struct{ C chan int }]())
	bad.Describe(reflect.TypeFor[*ownJSON]())
	if err := bad.Fault(); err == nil || !strings.Contains(err.Error(), "chan int") || !strings.Contains(err.Error(), "ownJSON, which writes its own JSON") {
		t.Errorf("types that cannot be described: %v", err)
	}
}

type ownJSON struct{}

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

// TestDefinitionsHaveOneName holds that no two types of different packages share a definition's name.
func TestDefinitionsHaveOneName(t *testing.T) {
	m := NewMaker("#/components/schemas/")
	for _, o := range outputs {
		m.output(o.id, o.typ)
	}
	if err := m.Fault(); err != nil {
		t.Error(err)
	}
	names := make([]string, 0, len(m.Defs))
	for name := range m.Defs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !regexp.MustCompile(`^[a-zA-Z0-9._-]+$`).MatchString(name) {
			t.Errorf("OpenAPI does not allow the name %q", name)
		}
	}
}
