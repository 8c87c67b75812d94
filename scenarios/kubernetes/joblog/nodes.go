package joblog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"capcli"
)

type node struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		Unschedulable bool `json:"unschedulable"`
	} `json:"spec"`
	Status struct {
		Allocatable resources  `json:"allocatable"`
		Conditions  conditions `json:"conditions"`
	} `json:"status"`
}

// Node is a node of the cluster and what it offers to pods.
type Node struct {
	Name, Product    string // Product is that of its GPUs, as NVIDIA's labels name it
	GPUs             int64  // slices of GPUs are counted as parts, rounded up in all
	CPUMilli, MemMiB int64
	Takes            bool // it is ready and not cordoned
}

func (r *Reader) addNode(raw []byte) error {
	n := &node{}
	if err := json.Unmarshal(raw, n); err != nil {
		return err
	}
	if err := n.Status.Allocatable.check(); err != nil {
		return fmt.Errorf("status.allocatable.%w", err)
	}
	r.Objects++
	key := n.Metadata.key("Node")
	if old := r.nodes[key]; old == nil || n.Metadata.version() >= old.Metadata.version() {
		r.nodes[key] = n
	}
	return nil
}

func (r *Reader) listNodes() []Node {
	var out []Node
	for _, n := range sortedBy(r.nodes, func(n *node) string { return n.Metadata.Name }) {
		has := n.Status.Allocatable.parse()
		out = append(out, Node{
			Name: n.Metadata.Name, Product: string(n.Metadata.Labels["nvidia.com/gpu.product"]),
			GPUs: has.gpus() + (migMilli(has.slices())+999)/1000, CPUMilli: has["cpu"], MemMiB: has["memory"] / 1000 >> 20,
			Takes: !n.Spec.Unschedulable && n.Status.Conditions.find("Ready", "False") == nil && n.Status.Conditions.find("Ready", "Unknown") == nil,
		})
	}
	return out
}

// NodeRows returns the nodes that take pods as a table, under a header.
func (h *History) NodeRows() [][]string {
	rows := [][]string{{"sn", "cpu_milli", "memory_mib", "gpu", "model"}}
	for _, n := range h.Nodes {
		if n.Takes {
			number := func(v int64) string { return strconv.FormatInt(v, 10) }
			rows = append(rows, []string{n.Name, number(n.CPUMilli), number(n.MemMiB), number(n.GPUs), cmp.Or(modelOf(n.Product), n.Product)})
		}
	}
	return rows
}

// noteNodes says how many nodes take pods.
func (h *History) noteNodes() {
	if len(h.Nodes) == 0 {
		return
	}
	var takes, out, gpus, lost int64
	for _, n := range h.Nodes {
		if n.Takes {
			takes, gpus = takes+1, gpus+n.GPUs
		} else {
			out, lost = out+1, lost+n.GPUs
		}
	}
	text := fmt.Sprintf("%s with %s take pods", counted(int(takes), "node"), counted(int(gpus), "GPU"))
	if out > 0 {
		text += fmt.Sprintf("; %s with %s are cordoned or not ready and not among the nodes", capcli.Grouped(out), counted(int(lost), "GPU"))
	}
	h.Notes = append(h.Notes, text)
}
