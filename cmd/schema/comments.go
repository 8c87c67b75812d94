package schema

import (
	_ "embed" // the comments are a file
	"reflect"
	"strings"
	"sync"

	"capcli"
)

// commentText has a row for each comment of a type or a field that a schema describes: package.Type or
// package.Type.Field, a tab, and the text. TestComments makes it from the source: go test ./cmd/schema -update.
//
//go:embed comments.tsv
var commentText string

var comments = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(commentText) {
		key, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out[key] = text
	}
	return out
})

// comment returns the doc comment of a type, or of its field; "" where there is none.
func comment(t reflect.Type, field string) string {
	if t.Name() == "" {
		return ""
	}
	return comments()[commentKey(t, field)]
}

func commentKey(t reflect.Type, field string) string {
	name, _, _ := strings.Cut(t.Name(), "[") // of a generic type
	key := strings.TrimPrefix(strings.TrimPrefix(t.PkgPath(), modulePath()), "/") + "." + name
	if field != "" {
		key += "." + field
	}
	return key
}

func modulePath() string { return reflect.TypeFor[capcli.USD]().PkgPath() }
