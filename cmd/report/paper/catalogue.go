package paper

import (
	"cmp"
	"slices"

	"capcli/scenarios/figure"
)

// Drawing makes figures of one kind. Each has a file of its own, figure_NAME.go, that registers it.
type Drawing struct {
	ID    string // of its first figure; of others with a number behind it
	Rank  int    // place in the paper: low ones come first
	Needs string // what it is drawn from, for the note where that is missing
	// Only reports whether a paper has results of the kind at all; nil is always. Where it has none, no
	// note says that the figure is missing.
	Only func(m *material) bool
	// Draw returns the figures; none where the material does not have what it needs. why says what
	// was missing where that is not simply the whole of Needs.
	Draw func(m *material) (figures []figure.Figure, why string)
}

// boardRank is the rank from which on figures are in the appendix of a decision.
const boardRank = 10

var drawings []Drawing

// register adds a drawing to the catalogue.
func register(d Drawing) { drawings = append(drawings, d) }

// Drawings returns the catalogue in the order of a paper.
func Drawings() []Drawing {
	return slices.SortedFunc(slices.Values(drawings), func(a, b Drawing) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.ID, b.ID))
	})
}
