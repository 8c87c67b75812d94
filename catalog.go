package capcli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Catalog is a set of things that a user chooses by name, such as policies, trace
// formats and output forms. Each thing is added in its own file or in one table.
type Catalog[T any] struct {
	Kind    string // "policy", for errors
	entries []Entry[T]
}

// Entry is a named thing with its documentation.
type Entry[T any] struct {
	Name, Doc string
	Value     T
}

// Add adds v under a name. It panics when the name is taken.
func (c *Catalog[T]) Add(name, doc string, v T) {
	i, taken := c.find(name)
	if taken {
		panic(fmt.Sprintf("two entries for %s %q", c.Kind, name))
	}
	c.entries = slices.Insert(c.entries, i, Entry[T]{name, doc, v})
}

// Get returns the thing called name. The error is an *UnknownError that suggests the nearest name
// and lists all.
func (c *Catalog[T]) Get(name string) (T, error) {
	if i, ok := c.find(name); ok {
		return c.entries[i].Value, nil
	}
	var none T
	hint := DidYouMean(name, c.Names())
	return none, &UnknownError{fmt.Sprintf("unknown %s %q%s have %s", c.Kind, name, cmp.Or(hint, ":"), strings.Join(c.Names(), ", "))}
}

// All returns the entries in order of name.
func (c *Catalog[T]) All() []Entry[T] { return slices.Clone(c.entries) }

// Names returns the names in order.
func (c *Catalog[T]) Names() []string {
	names := make([]string, len(c.entries))
	for i, e := range c.entries {
		names[i] = e.Name
	}
	return names
}

func (c *Catalog[T]) find(name string) (int, bool) {
	return slices.BinarySearchFunc(c.entries, name, func(e Entry[T], n string) int {
		return strings.Compare(e.Name, n)
	})
}

// UnknownError is the error of a name that is in no catalogue, which is wrong usage
// rather than bad input.
type UnknownError struct{ Text string }

func (e *UnknownError) Error() string { return e.Text }

// CheckChoice refuses a value that is not one of choices. The error is an *UnknownError, which
// names the value's kind.
func CheckChoice(kind, value string, choices []string) error {
	names := Catalog[struct{}]{Kind: kind}
	for _, name := range choices {
		names.Add(name, "", struct{}{})
	}
	_, err := names.Get(value)
	return err
}

// Nearest returns the name that is nearest to word by edit distance (Levenshtein 1966), or "". The
// distance must be at most two, and at most half of the name's length. A word that is near none but
// begins names, as wait does wait_mean, gives the first of them.
func Nearest(word string, names []string) string {
	best, at := "", 3
	for _, n := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(n)); d < at && d*2 <= len(n) {
			best, at = n, d
		}
	}
	if best == "" && len(word) > 2 {
		if i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, strings.ToLower(word)+"_") }); i >= 0 {
			best = names[i]
		}
	}
	return best
}

// DidYouMean returns the question for the nearest of names, "; did you mean \"easy\"?", or "" if
// none is near.
func DidYouMean(word string, names []string) string {
	if near := Nearest(word, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// distance returns the edit distance of two words; 64 if one of them is longer than 64 bytes.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
