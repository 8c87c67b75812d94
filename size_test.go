package capcli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"testing"
)

// The size of the program, without tests and testdata. These numbers are lowered to what is reached and never
// raised: what a change adds, it pays for by making something simpler.
const (
	mostLines    = 254184 // of all Go files
	mostExported = 3453   // types, functions, constants and variables of packages, without methods and fields
)

// TestProgramIsNoLarger holds the lines and the exported names of the program.
func TestProgramIsNoLarger(t *testing.T) {
	lines, exported := 0, 0
	for _, name := range sources(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(text, []byte{'\n'})
		exported += countExported(file)
	}
	t.Logf("%d lines, %d exported names", lines, exported)
	if lines > mostLines {
		t.Errorf("the program has %d lines, want at most %d: make something simpler", lines, mostLines)
	}
	if exported > mostExported {
		t.Errorf("the program has %d exported names, want at most %d: export what other packages use", exported, mostExported)
	}
}

// countExported returns the number of exported names that a file declares at the level of its package.
func countExported(file *ast.File) int {
	var names []*ast.Ident
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name)
				case *ast.ValueSpec:
					names = append(names, s.Names...)
				}
			}
		}
	}
	n := 0
	for _, name := range names {
		if name.IsExported() {
			n++
		}
	}
	return n
}
