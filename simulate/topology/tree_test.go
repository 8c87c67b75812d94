package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NewTree returns the tree of nodes by their paths, one name for each level. order has the index in paths of
// each node of the tree, because nodes are numbered by their paths, as bytes. It fails where a path has
// not one name for each level, or two nodes have the same path.
func NewTree(levels []string, paths [][]string) (t *Tree, order []int, err error) {
	if len(levels) == 0 {
		return nil, nil, fmt.Errorf("a topology has no levels: the last is the node")
	}
	order = make([]int, len(paths))
	for i, p := range paths {
		if order[i] = i; len(p) != len(levels) {
			return nil, nil, fmt.Errorf("node %s has %d names, the topology %d levels", strings.Join(p, "/"), len(p), len(levels))
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(slices.Compare(paths[a], paths[b]), cmp.Compare(a, b)) })
	starts := make([][]int32, len(levels))
	for n, i := range order {
		same := 0 // levels down to which the node is in the domain of its predecessor
		if n > 0 {
			before := paths[order[n-1]]
			for same < len(levels) && paths[i][same] == before[same] {
				same++
			}
		}
		if same == len(levels) {
			return nil, nil, fmt.Errorf("node %s is there twice", strings.Join(paths[i], "/"))
		}
		for l := same; l < len(levels)-1; l++ {
			starts[l] = append(starts[l], int32(n))
		}
	}
	t, err = NewConsecutive(levels, len(paths), starts[:len(levels)-1])
	return t, order, err
}
