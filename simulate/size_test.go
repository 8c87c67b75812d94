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
		{"fields of Live", reflect.TypeFor[Live]().NumField(), 50},
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

// TestDelaysAnswers fails when a field of a configuration says nothing of starts, so that a search would take
// it for one that never delays any.
func TestDelaysAnswers(t *testing.T) {
	have := map[string]int{}
	for _, a := range answers {
		have[a.Field]++
		if (a.Why == nil) == (a.Never == "") {
			t.Errorf("%s: give an answer, or why it never delays a start", a.Field)
		}
	}
	cfg := reflect.TypeFor[Config]()
	for i := range cfg.NumField() {
		if name := cfg.Field(i).Name; have[name] != 1 {
			t.Errorf("field %s of Config has %d answers", name, have[name])
		}
	}
	if len(have) != cfg.NumField() {
		t.Errorf("%d answers for %d fields", len(have), cfg.NumField())
	}
}
