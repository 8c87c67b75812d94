package eta

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"

	"capcli"
)

// forest is a quantile regression forest: trees grown by least squares on bootstrap samples, whose
// leaves keep all their values, so that a prediction is a distribution (Meinshausen, "Quantile
// Regression Forests", JMLR 7, 2006; Breiman, "Random Forests", Machine Learning 45, 2001).
type forest struct {
	trees []tree
}

// Settings of the forest.
const (
	forestTrees = 40
	forestLeaf  = 8  // fewest values in a leaf
	forestBins  = 64 // most thresholds that are tried for one feature; a bit each in a word
	forestTry   = 3  // one in so many features is tried at each split
)

type node struct {
	feature     int32 // -1 for a leaf
	left, right int32 // the two children; of a leaf the range of its values
	threshold   float32
}

// tree is a regression tree. A row goes left if its feature is at most the threshold.
type tree struct {
	nodes  []node
	values []float32
}

func (t *tree) leaf(x []float32) []float32 {
	n := &t.nodes[0]
	for n.feature >= 0 {
		if x[n.feature] <= n.threshold {
			n = &t.nodes[n.left]
		} else {
			n = &t.nodes[n.right]
		}
	}
	return t.values[n.left:n.right]
}

// values appends the values of all leaves of row x to buf, sorted.
func (f *forest) values(x, buf []float32) []float32 {
	for i := range f.trees {
		buf = append(buf, f.trees[i].leaf(x)...)
	}
	slices.Sort(buf)
	return buf
}

// table holds the rows that trees are grown from. Each feature is cut into bins of equal numbers of
// rows, once for all trees.
type table struct {
	y     []float32
	edges [][]float32 // of each feature, ascending: bin b holds values up to edges[b]
	codes [][]uint8   // bin of each row, by feature
}

// newTable returns the table of rows x with values y.
func newTable(x [][]float32, y []float32) *table {
	t := &table{y: y}
	column := make([]float32, len(x))
	for f := range x[0] {
		for i := range x {
			column[i] = x[i][f]
		}
		slices.Sort(column)
		var edges []float32
		for b := 1; b <= forestBins; b++ {
			v := column[b*(len(column)-1)/forestBins]
			if len(edges) == 0 || v > edges[len(edges)-1] {
				edges = append(edges, v)
			}
		}
		codes := make([]uint8, len(x))
		for i := range x {
			b, _ := slices.BinarySearch(edges, x[i][f])
			codes[i] = uint8(b)
		}
		t.edges, t.codes = append(t.edges, edges), append(t.codes, codes)
	}
	return t
}

// grower grows one tree.
type grower struct {
	*table
	rng    *rand.Rand
	rows   []int32   // rows of the tree, those of one node together
	values []float32 // values of the rows of the node at hand
	spare  []int32
	try    []int
	bins   [forestBins]bin // empty between features
}

// bin adds up the values of the rows in one bin of a feature.
type bin struct {
	n   int32
	sum float32
}

// grow returns a tree of a bootstrap sample of the table.
func (t *table) grow(rng *rand.Rand) tree {
	g := &grower{table: t, rng: rng, rows: make([]int32, len(t.y)), values: make([]float32, len(t.y)), spare: make([]int32, len(t.y)), try: make([]int, len(t.edges))}
	for f := range g.try {
		g.try[f] = f
	}
	for i := range g.rows {
		g.rows[i] = int32(rng.IntN(len(g.rows)))
	}
	out := tree{values: make([]float32, 0, len(g.rows))}
	g.split(&out, 0, len(g.rows))
	return out
}

// split makes the node of the rows from begin to end and all nodes below it. It returns its index.
func (g *grower) split(t *tree, begin, end int) int32 {
	id := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{feature: -1})
	f, edge := g.bestSplit(begin, end)
	if f < 0 {
		first := int32(len(t.values))
		for _, r := range g.rows[begin:end] {
			t.values = append(t.values, g.y[r])
		}
		t.nodes[id].left, t.nodes[id].right = first, int32(len(t.values))
		return id
	}
	codes, n, m := g.codes[f], begin, 0
	for _, r := range g.rows[begin:end] {
		if codes[r] <= edge {
			g.rows[n] = r
			n++
		} else {
			g.spare[m] = r
			m++
		}
	}
	copy(g.rows[n:end], g.spare[:m])
	left := g.split(t, begin, n)
	right := g.split(t, n, end)
	t.nodes[id] = node{feature: int32(f), left: left, right: right, threshold: g.edges[f][edge]}
	return id
}

// bestSplit returns the feature and the bin that part the rows from begin to end with the least
// squared error, of a random share of the features. The feature is -1 if no split is left.
func (g *grower) bestSplit(begin, end int) (feature int, edge uint8) {
	rows := g.rows[begin:end]
	if len(rows) < 2*forestLeaf {
		return -1, 0
	}
	var sum, squares float64
	for i, r := range rows {
		v := float64(g.y[r])
		g.values[i] = g.y[r]
		sum += v
		squares += v * v
	}
	n := float64(len(rows))
	if squares-sum*sum/n < 1e-6 {
		return -1, 0
	}
	feature = -1
	most := sum*sum/n + 1e-9
	for k := range max(1, len(g.try)/forestTry) {
		o := k + g.rng.IntN(len(g.try)-k)
		g.try[k], g.try[o] = g.try[o], g.try[k]
		f := g.try[k]
		if len(g.edges[f]) < 2 {
			continue
		}
		if gain, b := g.cut(rows, f, sum); gain > most {
			most, feature, edge = gain, f, b
		}
	}
	return feature, edge
}

// cut returns the best bin of feature f to part rows at, and how much it explains: the sum of the
// squares of both sides' sums over their numbers.
func (g *grower) cut(rows []int32, f int, sum float64) (most float64, edge uint8) {
	codes, y := g.codes[f], g.values[:len(rows)]
	var filled uint64 // the bins that have rows
	for i, r := range rows {
		c := codes[r] % forestBins
		b := &g.bins[c]
		b.n++
		b.sum += y[i]
		filled |= 1 << c
	}
	var left int32
	var leftSum float64
	for ; filled != 0; filled &= filled - 1 {
		c := bits.TrailingZeros64(filled)
		left += g.bins[c].n
		leftSum += float64(g.bins[c].sum)
		g.bins[c] = bin{}
		right := int32(len(rows)) - left
		if left < forestLeaf || right < forestLeaf {
			continue
		}
		rightSum := sum - leftSum
		if gain := leftSum*leftSum/float64(left) + rightSum*rightSum/float64(right); gain > most {
			most, edge = gain, uint8(c)
		}
	}
	return most, edge
}

// train grows a forest from rows x with values y. Its chance is seed's.
func train(ctx context.Context, x [][]float32, y []float32, seed capcli.Seed) (*forest, error) {
	t := newTable(x, y)
	f := &forest{trees: make([]tree, forestTrees)}
	err := capcli.EachParallel(ctx, forestTrees, func(_ context.Context, i int) error {
		f.trees[i] = t.grow(seed.Child(i).Stream("eta/tree"))
		return nil
	})
	return f, err
}
