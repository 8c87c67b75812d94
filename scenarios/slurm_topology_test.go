package scenarios

import (
	"fmt"
	"strings"
	"testing"
)

const (
	treeConf = `# a tree of two levels
SwitchName=s0 Nodes=tux[0-3] LinkSpeed=900
SwitchName=s1 Nodes=tux[4-5],tux6,tux7
SwitchName=top Switches=s[0-1]
`
	blockConf = `BlockName=b1 Nodes=n[01-02]
BlockName=b2 Nodes=n[03-04]
BlockName=b3 Nodes=n[05-06]
BlockSizes=2,4
`
)

// TestSlurmTopology reads a tree and blocks, and says what is wrong with others.
func TestSlurmTopology(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{treeConf, "[[top s0] [top s0] [top s0] [top s0] [top s1] [top s1] [top s1] [top s1]]"},
		{blockConf, "[[group1-000000 b1] [group1-000000 b1] [group1-000000 b2] [group1-000000 b2] [group1-000001 b3] [group1-000001 b3]]"},
		{"SwitchName=s0 Nodes=a,a", "node \"a\" is there twice"},
		{"SwitchName=s0 Nodes=a\nSwitchName=s0 Nodes=b", "line 2: \"s0\" is there twice"},
		{"SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b\nSwitchName=t Switches=s0", "equally deep"},
		{"SwitchName=s0 Nodes=a\nSwitchName=t Switches=s0\nSwitchName=u Switches=s0", "wants a tree"},
		{"SwitchName=t Switches=t", "no nodes"},
		{"SwitchName=s0", "needs nodes or switches"},
		{"Nodes=a", "nodes of no switch"},
		{"SwitchName=s0 Nodes=n[3-1]", "want a range"},
		{"SwitchName=s0 Nodes=n[1-", "want one range"},
		{"BlockSizes=4,6", "each a multiple"},
		{"Switch=s0 Nodes=a", "unknown word \"Switch\""},
		{"", "names no nodes"},
	} {
		paths, err := readSlurmTopology("topology.conf", []byte(c.text))
		got := fmt.Sprint(paths)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

// FuzzSlurmTopology: whatever the file, nodes have equally many domains, sorted, or there is an error.
func FuzzSlurmTopology(f *testing.F) {
	f.Add(treeConf)
	f.Add(blockConf)
	f.Add("SwitchName=s0 Nodes=n[0-1],x[1,3-4]y\n")
	f.Fuzz(func(t *testing.T, text string) {
		paths, err := readSlurmTopology("t", []byte(text))
		if (err == nil) == (len(paths) == 0) {
			t.Fatalf("%d nodes and error %v", len(paths), err)
		}
		for i := range paths {
			if len(paths[i]) != len(paths[0]) {
				t.Fatalf("paths of %d and %d domains", len(paths[i]), len(paths[0]))
			}
		}
		for level := range len(append(paths, nil)[0]) {
			if s := startsOf(paths, level); len(s) == 0 || s[0] != 0 {
				t.Fatalf("domains begin at %v", s)
			}
		}
	})
}
