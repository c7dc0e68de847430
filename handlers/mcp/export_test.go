package mcp

// RunAside has what is deep run on goroutines of its own, as if many waited.
func (m *Server) RunAside() { m.few = 0 }
