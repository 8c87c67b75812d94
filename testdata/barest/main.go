// Command barest is the least that a replay can be: it reads a plain CSV of jobs
// (submit, gpus and run_s by position), starts them first come, first served
// with one heap of ends, and prints the mean wait. It keeps no accounts, checks
// nothing and knows one policy. It is what capcli's time is measured against.
package main

import (
	"bufio"
	"container/heap"
	"fmt"
	"os"
	"strconv"
	"strings"
)

type end struct {
	at   int64
	gpus int
}

type ends []end

func (h ends) Len() int           { return len(h) }
func (h ends) Less(i, j int) bool { return h[i].at < h[j].at }
func (h ends) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ends) Push(x any)        { *h = append(*h, x.(end)) }
func (h *ends) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: barest jobs.csv gpus")
		os.Exit(2)
	}
	f, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	free, _ := strconv.Atoi(os.Args[2])
	in := bufio.NewScanner(f)
	in.Scan()
	at := map[string]int{}
	for i, name := range strings.Split(in.Text(), ",") {
		at[name] = i
	}
	submitAt, gpusAt, runAt := at["submit"], at["gpus"], at["run_s"]
	var h ends
	var now, waited, jobs int64
	for in.Scan() {
		row := strings.Split(in.Text(), ",")
		submit, _ := strconv.ParseInt(row[submitAt], 10, 64)
		gpus, _ := strconv.Atoi(row[gpusAt])
		run, _ := strconv.ParseInt(row[runAt], 10, 64)
		now = max(now, submit)
		for len(h) > 0 && h[0].at <= now {
			free += heap.Pop(&h).(end).gpus
		}
		for free < gpus {
			x := heap.Pop(&h).(end)
			now, free = max(now, x.at), free+x.gpus
		}
		free -= gpus
		heap.Push(&h, end{now + run, gpus})
		waited += now - submit
		jobs++
	}
	fmt.Printf("%d jobs, mean wait %.3f s\n", jobs, float64(waited)/float64(jobs))
}
