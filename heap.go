package capcli

// Heap is a heap.Interface of items that say which precedes the other.
type Heap[T interface{ Precedes(other T) bool }] []T

func (h Heap[T]) Len() int           { return len(h) }
func (h Heap[T]) Less(i, j int) bool { return h[i].Precedes(h[j]) }
func (h Heap[T]) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push appends item, which is a T.
func (h *Heap[T]) Push(item any) { *h = append(*h, item.(T)) }

// Pop removes the last item.
func (h *Heap[T]) Pop() any {
	var none T
	last := len(*h) - 1
	item := (*h)[last]
	(*h)[last], *h = none, (*h)[:last]
	return item
}
