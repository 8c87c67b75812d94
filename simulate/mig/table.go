package mig

import (
	"fmt"
	"strconv"
	"strings"
)

// models are the facts of the table: names of the profiles and the memory in GiB that drivers report as
// usable ("-": not known). Each line of a GPU with seven compute slices has the profiles in the order
// 1g, 1g+me, 1g with double memory, 2g, 3g, 4g, 7g; of an A30 1g, 1g+me, 2g, 2g+me, 4g.
//
// Source: NVIDIA MIG User Guide, "Supported MIG Profiles", and listings of nvidia-smi mig -lgip. The
// starts of H200 and B200 follow from the common geometry; no listing of such a card is known to us.
const models = `
A30-24GB    24  1g.6gb 5.7,   1g.6gb+me 5.7,    2g.12gb 11.4,  2g.12gb+me 11.4,                4g.24gb 22.8
A100-40GB   40  1g.5gb 4.75,  1g.5gb+me 4.75,   1g.10gb 9.62,  2g.10gb 9.62,  3g.20gb 19.5,  4g.20gb 19.5,  7g.40gb 39.25
A100-80GB   80  1g.10gb 9.62, 1g.10gb+me 9.62,  1g.20gb 19.5,  2g.20gb 19.5,  3g.40gb 39.25, 4g.40gb 39.25, 7g.80gb 78.5
H100-80GB   80  1g.10gb 9.75, 1g.10gb+me 9.75,  1g.20gb 19.62, 2g.20gb 19.62, 3g.40gb 39.5,  4g.40gb 39.5,  7g.80gb 79.25
H100-94GB   94  1g.12gb 10.75, 1g.12gb+me 10.75, 1g.24gb 21.62, 2g.24gb 21.62, 3g.47gb 46.38, 4g.47gb 46.38, 7g.94gb 93.12
H100-96GB   96  1g.12gb -,    1g.12gb+me -,     1g.24gb -,     2g.24gb -,     3g.48gb -,     4g.48gb -,     7g.96gb -
H200-141GB  141 1g.18gb -,    1g.18gb+me -,     1g.35gb -,     2g.35gb -,     3g.71gb -,     4g.71gb -,     7g.141gb -
B200-180GB  180 1g.23gb -,    1g.23gb+me -,     1g.45gb -,     2g.45gb -,     3g.90gb -,     4g.90gb -,     7g.180gb -`

// geometry is what the profiles of all GPUs with so many compute slices have in common.
var geometry = map[int][]Profile{
	7: {
		{ID: 19, Compute: 1, Memory: 1, Most: 7, Starts: []int{0, 1, 2, 3, 4, 5, 6}},
		{ID: 20, Compute: 1, Memory: 1, Most: 1, Starts: []int{0, 1, 2, 3, 4, 5, 6}, Media: true},
		{ID: 15, Compute: 1, Memory: 2, Most: 4, Starts: []int{0, 2, 4, 6}},
		{ID: 14, Compute: 2, Memory: 2, Most: 3, Starts: []int{0, 2, 4}},
		{ID: 9, Compute: 3, Memory: 4, Most: 2, Starts: []int{0, 4}},
		{ID: 5, Compute: 4, Memory: 4, Most: 1, Starts: []int{0}},
		{ID: 0, Compute: 7, Memory: 8, Most: 1, Starts: []int{0}},
	},
	4: {
		{ID: 14, Compute: 1, Memory: 1, Most: 4, Starts: []int{0, 1, 2, 3}},
		{ID: 21, Compute: 1, Memory: 1, Most: 1, Starts: []int{0, 1, 2, 3}, Media: true},
		{ID: 5, Compute: 2, Memory: 2, Most: 2, Starts: []int{0, 2}},
		{ID: 6, Compute: 2, Memory: 2, Most: 1, Starts: []int{0, 2}, Media: true},
		{ID: 0, Compute: 4, Memory: 4, Most: 1, Starts: []int{0}},
	},
}

// driverStarts is the order in which the driver of an A100 takes the starts, as the three examples of the
// guide's "Creating GPU Instances" show it, by the number of the profile. Other models differ, and the
// guide does not show the media and double-memory profiles.
var driverStarts = map[int][]int{
	19: {6, 4, 5, 0, 1, 2, 3},
	14: {4, 0, 2},
	9:  {4, 0},
	5:  {0},
	0:  {0},
}

var table = readTable(models)

// readTable makes the table of the facts. It panics at a line that it does not understand.
func readTable(text string) []GPU {
	var gpus []GPU
	for line := range strings.Lines(strings.TrimSpace(text)) {
		parts := strings.Fields(strings.ReplaceAll(line, ",", " "))
		gb, err := strconv.Atoi(parts[1])
		if err != nil {
			panic(err)
		}
		g := GPU{Name: parts[0], Compute: 7, Memory: 8, MemMiB: int64(gb) << 10}
		if g.Name == "A30-24GB" {
			g.Compute, g.Memory = 4, 4
		}
		for i, common := range geometry[g.Compute] {
			p := common
			p.Name = parts[2+2*i]
			if p.MemMiB, p.Reported = usable(parts[3+2*i], &p, &g); strings.HasPrefix(g.Name, "A100") {
				p.Driver = driverStarts[p.ID]
			}
			g.Profiles = append(g.Profiles, p)
		}
		if len(parts) != 2+2*len(g.Profiles) {
			panic("mig: a line of the table does not have the profiles of its geometry: " + g.Name)
		}
		gpus = append(gpus, g)
	}
	return gpus
}

// usable returns the usable memory of a profile. Where no driver's report is known it is nine tenths of
// its memory slices' share of the GPU, which is less than of all reported ones.
func usable(gib string, p *Profile, g *GPU) (mib int64, reported bool) {
	if gib == "-" {
		return g.MemMiB * int64(p.Memory) * 9 / int64(g.Memory) / 10, false
	}
	v, err := strconv.ParseFloat(gib, 64)
	if err != nil {
		panic(fmt.Sprintf("mig: %v", err))
	}
	return int64(v * 1024), true
}
