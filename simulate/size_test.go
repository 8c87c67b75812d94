package simulate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestKernelStaysSmall bounds the engine and the jobs that it keeps. The bounds are lowered, never raised: what
// a feature keeps belongs to its part.
func TestKernelStaysSmall(t *testing.T) {
	for _, c := range []struct {
		what      string
		have, may int
	}{
		{"fields of engine", reflect.TypeFor[engine]().NumField(), 24},
		{"fields of Live", reflect.TypeFor[Live]().NumField(), 49},
		{"bytes of Live", int(reflect.TypeFor[Live]().Size()), 584},
		{"methods of engine", methodsOf(t, "engine"), 82},
		{"names of events in the agenda's entry", reflect.TypeFor[planned]().NumField(), 5},
	} {
		if c.have > c.may {
			t.Errorf("%s: %d, over %d", c.what, c.have, c.may)
		}
	}
}

// methodsOf counts the methods of a type of the package.
func methodsOf(t *testing.T, name string) (n int) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			if p, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
				if id, ok := p.X.(*ast.Ident); ok && id.Name == name {
					n++
				}
			}
		}
	}
	return n
}

// TestDelaysAnswers fails when a field of a configuration or of a pool says nothing of starts, so that a search
// would take it for one that never delays any.
func TestDelaysAnswers(t *testing.T) {
	config, pool := map[string]bool{}, map[string]bool{}
	for _, a := range answers {
		config[a.Field] = (a.Why == nil) != (a.Never == "") && !config[a.Field]
	}
	for _, a := range poolAnswers {
		for name := range strings.FieldsSeq(a.Fields) {
			pool[name] = (a.When == nil) != (a.Never == "") && (a.When == nil) == (a.Why == "") && !pool[name]
		}
	}
	checkAnswers(t, reflect.TypeFor[Config](), config)
	checkAnswers(t, reflect.TypeFor[Pool](), pool)
}

// checkAnswers checks that each field of a type has one answer.
func checkAnswers(t *testing.T, of reflect.Type, answered map[string]bool) {
	for i := range of.NumField() {
		if name := of.Field(i).Name; !answered[name] {
			t.Errorf("field %s of %s: give one answer, or why it never delays a start", name, of.Name())
		}
	}
	if len(answered) != of.NumField() {
		t.Errorf("%s: %d answers for %d fields", of.Name(), len(answered), of.NumField())
	}
}

// TestDelaysOfPools sets each field of a plain pool that can delay a start, and holds what the pool says to it.
func TestDelaysOfPools(t *testing.T) {
	plain := Pool{Name: "p", Nodes: 1, GPUsPerNode: 8}
	if why := plain.Delays(0); why != "" {
		t.Errorf("a plain pool delays starts: %s", why)
	}
	for _, a := range poolAnswers {
		for name := range strings.FieldsSeq(a.Fields) {
			p := plain
			setField(&p, name)
			if why := p.Delays(0); (why != "") != (a.When != nil) {
				t.Errorf("%s set: got %q, but its answer says delays %t", name, why, a.When != nil)
			}
		}
	}
}

// setField gives a field of p a value that is not its zero.
func setField(p *Pool, name string) {
	f := reflect.ValueOf(p).Elem().FieldByName(name)
	switch f.Kind() {
	case reflect.Int, reflect.Int64:
		f.SetInt(f.Int() + 2)
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Bool:
		f.SetBool(true)
	case reflect.String:
		f.SetString("p")
	default:
		if name == "Supply" {
			p.Supply = noChange{}
		}
	}
}

// noChange is a supply that never changes.
type noChange struct{}

func (noChange) Next() (c Change, ok bool) { return c, false }

// LastWay returns the way in which the job runs, or ran last, as an index of Shape.Ways; -1 if it has none.
func (l *Live) LastWay() int {
	if l.mould == nil {
		return -1
	}
	return int(l.mould.way)
}
