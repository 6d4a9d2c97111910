"""What cameras see: objects of a colour in a picture with depth, where they are, and how sure that is."""
